package oncall

import (
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/runtime"
)

// events that were sent, as reasons and messages.
type events struct {
	mu  sync.Mutex
	all []event.Event
}

func (e *events) Event(_ runtime.Object, v event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, v)
}

func (e *events) WithAnnotations(...string) event.Recorder { return e }

// has an event of a reason.
func (e *events) has(r event.Reason) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.all, func(v event.Event) bool { return v.Reason == r })
}
