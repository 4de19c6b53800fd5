// Command coredns is CoreDNS with the plugins that the DNS bench needs: zone files and several sockets.
package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/file"
	_ "github.com/coredns/coredns/plugin/multisocket"

	"github.com/coredns/coredns/coremain"
)

func main() {
	coremain.Run()
}
