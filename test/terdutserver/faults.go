package terdutserver

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// A Fault is a misbehaviour: which requests meet it, and what happens to them. Faults are looked at in the order of their injection, and the
// first one that fits is met.
type Fault struct {
	// Method and Route of the requests, for example POST and /api/teams/{team}/integrations. Empty fits all.
	Method string `json:"method,omitempty"`
	Route  string `json:"route,omitempty"`
	// Skip lets this many fitting requests pass first.
	Skip int `json:"skip,omitempty"`
	// Times bounds how many requests meet the fault. 0 does not.
	Times int `json:"times,omitempty"`

	// Commit carries the request out before the fault shows. Otherwise it is not carried out, unless the fault is a delay alone.
	Commit bool `json:"commit,omitempty"`
	// Delay before the answer, in nanoseconds on the wire.
	Delay time.Duration `json:"delay,omitempty"`
	// Drop the connection in place of an answer.
	Drop bool `json:"drop,omitempty"`
	// Truncate sends the first half of the answer and drops the connection.
	Truncate bool `json:"truncate,omitempty"`
	// Status to answer with. 0 leaves the answer as it is.
	Status int `json:"status,omitempty"`
	// ContentType, Body and Header of that answer. Default: application/json, and the API's form of an error.
	ContentType string            `json:"content_type,omitempty"`
	Body        string            `json:"body,omitempty"`
	Header      map[string]string `json:"header,omitempty"`

	met int
}

// Modes are misbehaviours that last until they are turned off.
type Modes struct {
	// Shuffle the order of lists, of a policy's levels and of their targets.
	Shuffle bool `json:"shuffle,omitempty"`
	// PageSize splits lists into pages, linked by Link headers with rel="next". 0 does not.
	PageSize int `json:"page_size,omitempty"`
	// RefuseDeletes answers 409 to the deletion of a team that still has rows.
	RefuseDeletes bool `json:"refuse_deletes,omitempty"`
	// PrefixSearch makes ?name= find all names that start with it.
	PrefixSearch bool `json:"prefix_search,omitempty"`
	// FoldNames stores names of teams, switches and integrations trimmed and in lower case.
	FoldNames bool `json:"fold_names,omitempty"`
	// FoldMatchers stores matchers in their canonical form.
	FoldMatchers bool `json:"fold_matchers,omitempty"`
}

// Inject a fault. What is returned takes it back.
func (s *Server) Inject(f Fault) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &f
	p.met = 0
	s.faults = append(s.faults, p)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.faults {
			if s.faults[i] == p {
				s.faults = append(s.faults[:i], s.faults[i+1:]...)
				return
			}
		}
	}
}

// ClearFaults takes all faults back.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// SetModes replaces the modes.
func (s *Server) SetModes(m Modes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes = m
}

// fault that a request meets, or nil.
func (s *Server) fault(method, route string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if (f.Method != "" && f.Method != method) || (f.Route != "" && f.Route != route) {
			continue
		}
		f.met++
		if f.met <= f.Skip || (f.Times > 0 && f.met > f.Skip+f.Times) {
			continue
		}
		c := *f
		return &c
	}
	return nil
}

// carriesOut says whether the request still reaches the API.
func (f *Fault) carriesOut() bool { return f.Commit || (!f.Drop && f.Status == 0) }

// answer with the fault. The answer of the API is nil when the request was not carried out.
func (f *Fault) answer(w http.ResponseWriter, r *http.Request, a *httptest.ResponseRecorder) {
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	if f.Drop {
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 {
		a = httptest.NewRecorder()
		a.Header().Set("Content-Type", "application/json")
		if f.ContentType != "" {
			a.Header().Set("Content-Type", f.ContentType)
		}
		for k, v := range f.Header {
			a.Header().Set(k, v)
		}
		a.WriteHeader(f.Status)
		body := f.Body
		if body == "" && strings.HasPrefix(a.Header().Get("Content-Type"), "application/json") {
			body = `{"error":"injected fault"}`
		}
		_, _ = a.WriteString(body) // It writes to memory.
	}
	relay(w, a, f.Truncate)
}

// relay an answer that was recorded.
func relay(w http.ResponseWriter, a *httptest.ResponseRecorder, truncate bool) {
	maps.Copy(w.Header(), a.Header())
	body := a.Body.Bytes()
	if truncate {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		body = body[:len(body)/2]
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(body) // A client that went away is no matter.
	if truncate {
		_ = http.NewResponseController(w).Flush() // As above.
		panic(http.ErrAbortHandler)
	}
}
