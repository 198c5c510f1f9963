package terdutserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A Request that the server got. It holds no key.
type Request struct {
	Method string `json:"method"`
	// Route is the pattern that fits the path, for example /api/teams/{team}; the path itself when none does.
	Route string `json:"route"`
	// Credential is anonymous, invalid, user/NAME or service-account/NAME.
	Credential string `json:"credential"`
	// KeyID of the credential, 0 without one.
	KeyID int64 `json:"key_id,omitempty"`
	// Account is the id of the service account that the path names, 0 when it names none.
	Account int64 `json:"account,omitempty"`
	// Status of the API's answer, or of the fault that took its place. 0 when there was none.
	Status int `json:"status"`
	// Committed is true when the request was carried out and changed something.
	Committed bool `json:"committed,omitempty"`
}

// IsWrite is true for requests that could change something.
func (r Request) IsWrite() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// Requests returns what came in so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ResetRequests forgets what came in so far.
func (s *Server) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Count requests by what is not empty: method, route and credential.
func (s *Server) Count(method, route, credential string) int {
	n := 0
	for _, r := range s.Requests() {
		if (method == "" || method == r.Method) && (route == "" || route == r.Route) && (credential == "" || credential == r.Credential) {
			n++
		}
	}
	return n
}

// Writes counts requests that could change something, whether or not they did.
func (s *Server) Writes() int {
	n := 0
	for _, r := range s.Requests() {
		if r.IsWrite() {
			n++
		}
	}
	return n
}

// accountIn a path.
func accountIn(path string) int64 {
	_, rest, _ := strings.Cut(path, "/api/service-accounts/")
	id, _, _ := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}
