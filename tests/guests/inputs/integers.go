// The same by Atoi, ParseInt and ParseFloat.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	a, _ := strconv.Atoi(os.Args[1])
	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	s, _ := strconv.ParseInt(input.Text(), 10, 64)
	file, _ := os.Open(os.Args[2])
	lines := bufio.NewScanner(file)
	lines.Scan()
	first := strings.Fields(lines.Text())
	n, _ := strconv.Atoi(first[0])
	m, _ := strconv.Atoi(first[1])
	lines.Scan()
	second := strings.Fields(lines.Text())
	p, _ := strconv.ParseFloat(second[0], 64)
	q, _ := strconv.ParseFloat(second[1], 64)
	fmt.Println(float64(a)*p + float64(n)*float64(m)*q*q + float64(s))
}
