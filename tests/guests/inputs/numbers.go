// The same by strconv.ParseFloat and fmt.Fscan.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

func main() {
	a, _ := strconv.ParseFloat(os.Args[1], 64)
	w, _ := strconv.ParseFloat(os.Getenv("SG_W"), 64)
	var s, t float64
	fmt.Scan(&s, &t)
	total := a*a + w*s*t
	file, _ := os.Open(os.Args[2])
	reader := bufio.NewReader(file)
	reader.ReadString('\n')
	var rows int
	fmt.Fscan(reader, &rows)
	for i := 0; i < rows; i++ {
		var p, q float64
		fmt.Fscan(reader, &p, &q)
		total += float64(i+1) * p * p * q
	}
	fmt.Println(total)
}
