package baosecret

import "sync"

// locks serialise what this process does to one record: metadata has no check-and-set on the server.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	sync.Mutex

	users int
}

func newLocks() *locks { return &locks{held: map[string]*lock{}} }

// acquire the lock of a record. The returned function releases it.
func (l *locks) acquire(name string) func() {
	l.mu.Lock()
	k, ok := l.held[name]
	if !ok {
		k = &lock{}
		l.held[name] = k
	}
	k.users++
	l.mu.Unlock()
	k.Lock()

	return func() {
		k.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.held, name)
		}
	}
}
