package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// reconcileKeys has controller-runtime's controller reconcile keys that are all queued at its start, once each.
func reconcileKeys(keys, workers, reconcileMs int) error {
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(keys))
	done := make(chan struct{})
	one, err := controller.NewUnmanaged("bench", controller.Options{
		MaxConcurrentReconciles: workers,
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if reconcileMs > 0 {
				time.Sleep(time.Duration(reconcileMs) * time.Millisecond)
			}
			if left.Add(-1) == 0 {
				close(done)
			}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return err
	}
	requests := make([]reconcile.Request, keys)
	for index := range requests {
		requests[index].NamespacedName = types.NamespacedName{Namespace: "bench", Name: fmt.Sprintf("object-%d", index)}
	}
	fill := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		for _, request := range requests {
			queue.Add(request)
		}
		return nil
	})
	if err := one.Watch(fill); err != nil {
		return err
	}
	began, cpuBefore := time.Now(), cpuMs()
	failed := make(chan error, 1)
	go func() { failed <- one.Start(ctx) }()
	select {
	case <-done:
		tell(report{"at": "reconciled", "keys": keys, "ms": ms(time.Since(began)), "cpuMs": cpuMs() - cpuBefore})
		return nil
	case err := <-failed:
		return fmt.Errorf("the controller ended: %w", err)
	}
}
