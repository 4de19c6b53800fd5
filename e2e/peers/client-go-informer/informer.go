package main

import (
	"bufio"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// followConfigMaps keeps a copy of all ConfigMaps of the namespace "bench" and does what stdin says until it ends.
func followConfigMaps(kubeconfig, contentType string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = contentType
	config.AcceptContentTypes = contentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("bench"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var updates updateLog
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) {},
		UpdateFunc: func(_, object any) { updates.add(object.(*corev1.ConfigMap).Name) },
		DeleteFunc: func(any) {},
	})
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	objects := func() int { return len(informer.GetStore().ListKeys()) }
	tell(report{"at": "ready", "rssBytes": residentBytes(), "cpuMs": cpuMs()})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "start":
			began, cpuBefore := time.Now(), cpuMs()
			factory.Start(ctx.Done())
			<-registration.HasSyncedChecker().Done()
			tell(report{"at": "synced", "ms": ms(time.Since(began)), "cpuMs": cpuMs() - cpuBefore, "rssBytes": residentBytes(), "objects": objects()})
		case "collect":
			runtime.GC()
			debug.FreeOSMemory()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			tell(report{"at": "collected", "rssBytes": residentBytes(), "heapBytes": memory.HeapAlloc, "objects": objects()})
		case "expect":
			count, err := strconv.Atoi(argument)
			if err != nil {
				return err
			}
			updates.expect(count)
			tell(report{"at": "expecting"})
		case "record":
			updates.record()
			tell(report{"at": "recording"})
		case "recorded":
			tell(updates.recorded())
		}
	}
	return nil
}

// updateLog counts the updates that a handler is told of.
type updateLog struct {
	mutex     sync.Mutex
	expected  int
	seen      int
	first     time.Time
	cpuBefore float64
	recording bool
	arrivals  [][2]int64
}

func (log *updateLog) add(name string) {
	now := time.Now()
	log.mutex.Lock()
	defer log.mutex.Unlock()
	if log.recording {
		index, _ := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
		log.arrivals = append(log.arrivals, [2]int64{index, now.UnixMicro()})
	}
	if log.expected == 0 {
		return
	}
	log.seen++
	if log.seen == 1 {
		log.first = now
	}
	if log.seen < log.expected {
		return
	}
	tell(report{"at": "seen", "events": log.seen, "ms": ms(now.Sub(log.first)), "cpuMs": cpuMs() - log.cpuBefore})
	log.expected = 0
}

func (log *updateLog) expect(count int) {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.expected, log.seen, log.cpuBefore = count, 0, cpuMs()
}

func (log *updateLog) record() {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.recording, log.arrivals, log.cpuBefore = true, make([][2]int64, 0, 65536), cpuMs()
}

func (log *updateLog) recorded() report {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	log.recording = false
	return report{"at": "recorded", "cpuMs": cpuMs() - log.cpuBefore, "arrivals": log.arrivals}
}
