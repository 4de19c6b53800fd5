// Command client-go-informer is the Go side of the controller bench: client-go's shared informer, and controller-runtime's
// controller, measured by the same line protocol as the other clients (bench/controller/client-report.ts).
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: client-go-informer informer|controller [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	var run func() error
	switch os.Args[1] {
	case "informer":
		kubeconfig := flags.String("kubeconfig", "", "file that says where the server is")
		contentType := flags.String("content-type", "application/json", "what the server is asked for")
		run = func() error { return followConfigMaps(*kubeconfig, *contentType) }
	case "controller":
		keys := flags.Int("keys", 20000, "keys to reconcile")
		workers := flags.Int("workers", 1, "reconciles at once")
		reconcileMs := flags.Int("reconcile-ms", 0, "what one takes")
		run = func() error { return reconcileKeys(*keys, *workers, *reconcileMs) }
	default:
		fail(fmt.Errorf("there is no command %q", os.Args[1]))
	}
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	if err := run(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
