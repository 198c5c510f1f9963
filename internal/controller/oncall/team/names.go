package team

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// nameOf is the name that the team is to have on the server.
func nameOf(mg *v1alpha1.Team) string {
	if n := mg.Spec.ForProvider.DisplayName; n != nil {
		return *n
	}
	return mg.GetName()
}

// maxAccountName bounds the readable part of an account's name in bytes.
const maxAccountName = 80

// accountName is the name of the service account of a Team. It holds a hash of the Team's uid, so nothing else has it by chance, and whatever
// has it was made for this Team.
func accountName(mg *v1alpha1.Team) string {
	h := sha256.Sum256([]byte(mg.GetNamespace() + "/" + mg.GetName() + "/" + string(mg.GetUID())))
	readable := "terdut-team-" + mg.GetNamespace() + "-" + mg.GetName()
	if len(readable) > maxAccountName {
		readable = readable[:maxAccountName]
	}
	return readable + "-" + hex.EncodeToString(h[:8])
}

// folded is a name as servers may store it that trim names and do not tell cases apart.
func folded(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// names serialises what this process creates under one name on one server.
type names struct {
	mu   sync.Mutex
	held map[string]bool
}

func newNames() *names { return &names{held: map[string]bool{}} }

// try to take a name. It is false when another create of it is under way; else the returned function gives it back.
func (n *names) try(server, name string) (func(), bool) {
	key := server + " " + folded(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held[key] {
		return nil, false
	}
	n.held[key] = true
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.held, key)
	}, true
}
