// Floats are printed while Go's scheduler sends signals to preempt what runs: each is an output once.
package main

import "fmt"

var x = 3.0

func main() {
	for i := 0; i < 40000; i++ {
		fmt.Printf("%.3f\n", x*float64(i)/7)
	}
}
