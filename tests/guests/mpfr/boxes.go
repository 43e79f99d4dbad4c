// Zeros of Go's: numbers whose bits are small integers lie in one table, where another may take a number's place.
package main

import (
	"fmt"
	"strconv"
)

func main() {
	a, _ := strconv.ParseFloat("0.1", 64)
	three := 1e16 + 3*a - 1e16
	four := 1e16 + 4*a - 1e16
	exact := a - a
	// The one prints 0 for 0.3, and the other 0 for 0.
	fmt.Println(three)
	fmt.Println(exact)
	// Two numbers in one place: the first has lost its real.
	fmt.Println(exact, three)
	fmt.Println(four, exact)
	println(three)
}
