package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// report is one line of what a client tells the bench.
type report map[string]any

func tell(one report) {
	line, err := json.Marshal(one)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(line))
}

// cpuMs is the user and system time of this process so far.
func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return ms(time.Duration(usage.Utime.Nano() + usage.Stime.Nano()))
}

func residentBytes() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		fail(err)
	}
	return pages * os.Getpagesize()
}

func ms(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}
