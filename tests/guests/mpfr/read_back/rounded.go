// As rounded.c.
package main

import (
	"fmt"
	"strconv"
)

func main() {
	sum, tenth := 0.0, 0.1
	for i := 0; i < 10; i++ {
		sum += tenth
	}
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.2f", sum*0.015), 64)
	fmt.Println(rounded * 1.5)
}
