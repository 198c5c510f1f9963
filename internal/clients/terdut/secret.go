package terdut

import "fmt"

// A Secret is what the server shows once: a key, or a URL that holds one. It neither prints nor encodes as JSON; who needs it says
// string(secret).
type Secret string

// Format keeps secrets out of logs and errors.
func (Secret) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("(secret)")) }

// MarshalJSON keeps secrets out of whatever is encoded.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"(secret)"`), nil }

// An APIKey as the server hands it out.
type APIKey struct {
	ID  int64  `json:"id"`
	Key Secret `json:"key"`
}

func (k APIKey) complete() bool { return k.ID > 0 && k.Key != "" }
