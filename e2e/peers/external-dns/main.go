// Command external-dns is external-dns without the sources that cannot be built: its own custom resource, plan, TXT registry
// and RFC 2136 provider, in the loop of its controller. The flags have the names of the real command's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/registry"
)

const batchChangeSize = 50

type options struct {
	kubeconfig, labelFilter, host, zone, keyName, secret, algorithm, txtPrefix, txtOwner, managed string
	port                                                                                          int
	interval                                                                                      time.Duration
}

func main() {
	var given options
	flag.StringVar(&given.kubeconfig, "kubeconfig", "", "file that says where the API server is")
	flag.StringVar(&given.labelFilter, "label-filter", "k8gb.io/dnstype=extdns", "which DNSEndpoints to publish")
	flag.StringVar(&given.host, "rfc2136-host", "", "the primary of the zone")
	flag.IntVar(&given.port, "rfc2136-port", 53, "where it listens")
	flag.StringVar(&given.zone, "rfc2136-zone", "", "the zone to write")
	flag.StringVar(&given.keyName, "rfc2136-tsig-keyname", "", "name of the key that signs updates and transfers")
	flag.StringVar(&given.secret, "rfc2136-tsig-secret", "", "its secret")
	flag.StringVar(&given.algorithm, "rfc2136-tsig-secret-alg", "hmac-sha256", "its algorithm")
	flag.StringVar(&given.txtPrefix, "txt-prefix", "", "what the names of records about ownership start with")
	flag.StringVar(&given.txtOwner, "txt-owner-id", "", "who this is in those records")
	flag.StringVar(&given.managed, "managed-record-types", "A,AAAA,CNAME,NS", "what may be written")
	flag.DurationVar(&given.interval, "interval", time.Second, "time between two rounds")
	flag.Parse()
	if err := run(context.Background(), given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, given options) error {
	selector, err := labels.Parse(given.labelFilter)
	if err != nil {
		return fmt.Errorf("label filter %q: %w", given.labelFilter, err)
	}
	source, err := newEndpointSource(given.kubeconfig, selector)
	if err != nil {
		return err
	}
	filter := endpoint.NewDomainFilter([]string{given.zone})
	primary, err := newPrimary(given, filter)
	if err != nil {
		return err
	}
	managed := strings.Split(given.managed, ",")
	records, err := registry.NewTXTRegistry(primary, given.txtPrefix, "", given.txtOwner, 0, "", managed, nil, false, nil, "")
	if err != nil {
		return err
	}
	for ; ; time.Sleep(given.interval) {
		if err := runOnce(ctx, source, records, filter, managed); err != nil {
			fmt.Fprintln(os.Stderr, "round failed:", err)
		}
	}
}

func newPrimary(given options, filter *endpoint.DomainFilter) (provider.Provider, error) {
	return rfc2136.NewRfc2136Provider(
		[]string{given.host}, given.port, []string{given.zone}, false, given.keyName, given.secret, given.algorithm,
		true, filter, false, 0, false, false, "", "", "", batchChangeSize, rfc2136.TLSConfig{}, "", nil,
	)
}

// runOnce does what one round of external-dns' controller does, with the policy "sync".
func runOnce(ctx context.Context, source *endpointSource, records *registry.TXTRegistry, filter *endpoint.DomainFilter, managed []string) error {
	current, err := records.Records(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, provider.RecordsContextKey, current)
	desired, err := source.endpoints(ctx)
	if err != nil {
		return err
	}
	desired, err = records.AdjustEndpoints(desired)
	if err != nil {
		return err
	}
	calculated := (&plan.Plan{
		Policies:       []plan.Policy{&plan.SyncPolicy{}},
		Current:        current,
		Desired:        desired,
		DomainFilter:   endpoint.MatchAllDomainFilters{filter, records.GetDomainFilter()},
		ManagedRecords: managed,
		OwnerID:        records.OwnerID(),
	}).Calculate()
	if !calculated.Changes.HasChanges() {
		return nil
	}
	return records.ApplyChanges(ctx, calculated.Changes)
}
