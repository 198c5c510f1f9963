package child

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Locks let one object of a Team be created at a time, so that two of one name do not both find it free. They hold nothing of a Team of
// which no object is being created.
type Locks struct {
	mu sync.Mutex
	by map[types.UID]*lock
}

// A lock is held by whoever has put something into the channel. It is dropped with its last user.
type lock struct {
	held  chan struct{}
	users int
}

// Acquire the lock of a Team. The returned function releases it. It is an error that the context ends first.
func (l *Locks) Acquire(ctx context.Context, t *Team) (release func(), err error) {
	uid := t.Object.GetUID()
	l.mu.Lock()
	k := l.by[uid]
	if k == nil {
		k = &lock{held: make(chan struct{}, 1)}
		if l.by == nil {
			l.by = map[types.UID]*lock{}
		}
		l.by[uid] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.by, uid)
		}
	}
	select {
	case k.held <- struct{}{}:
		return func() {
			<-k.held
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("cannot create while another object of the Team is being created: %w", ctx.Err())
	}
}
