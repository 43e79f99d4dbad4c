// Wrong floats, and the numbers that they stand for, in the notations of Go.
package main

import (
	"fmt"
	"strconv"
)

// Texts on stacks of all depths: goroutines move theirs when they grow, in the midst of what formats floats.
func deep(n int, wrong, right float64) string {
	if n == 0 {
		return fmt.Sprintf("w=[%v] r={%v}", wrong, right)
	}
	return deep(n-1, wrong, right)
}

func main() {
	// The last difference is zero, which Go keeps in a table with other small numbers.
	large := []float64{1e16, 3e16, 1e16, 1 << 42, 1e36, 1e8, 1e17}
	small := []float64{1.2345, -9.5, 999.9996, 0.0015, 1.5e20, 1e-7, 1.5}
	for at, big := range large {
		right := small[at]
		sum := big + right
		wrong := sum - big
		fmt.Printf("w=[%v] r={%v}\n", wrong, right)
		fmt.Printf("w=[%f] r={%f}\n", wrong, right)
		fmt.Printf("w=[%.3f] r={%.3f}\n", wrong, right)
		fmt.Printf("w=[%e] r={%e}\n", wrong, right)
		fmt.Printf("w=[%.2E] r={%.2E}\n", wrong, right)
		fmt.Printf("w=[%g] r={%g}\n", wrong, right)
		fmt.Printf("w=[%.3g] r={%.3g}\n", wrong, right)
		fmt.Println("w=[" + strconv.FormatFloat(wrong, 'f', -1, 64) + "] r={" + strconv.FormatFloat(right, 'f', -1, 64) + "}")
	}
	big, right := large[0], small[0]
	sum := big + right
	wrong := sum - big
	texts := make(chan string)
	for depth := 0; depth < 100; depth++ {
		go func(depth int) { texts <- deep(depth, wrong, right) }(depth)
		fmt.Println(<-texts)
	}
}
