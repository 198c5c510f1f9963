package terdutserver

import (
	"encoding/json"
	"net/http"
)

// Control returns a handler with which another process looks at the server and makes it misbehave. It asks for no credential and hands out
// administrators' keys: it is to be served on the loopback interface alone.
//
//	GET    /state     what Snapshot returns
//	GET    /requests  what Requests returns; DELETE forgets it
//	POST   /faults    a Fault to inject; DELETE takes all back
//	PUT    /modes     the Modes from now on
//	POST   /forget    forget everything
//	POST   /users     {"username", "email"}; answers {"id"}
//	POST   /admins    {"username"}; answers {"key"}
func (s *Server) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, r *http.Request) {
		st, err := s.Snapshot(r.Context())
		s.finish(w, st, err)
	})
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { s.finish(w, s.Requests(), nil) })
	mux.HandleFunc("DELETE /requests", func(w http.ResponseWriter, _ *http.Request) {
		s.ResetRequests()
		s.finish(w, nil, nil)
	})
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		var f Fault
		err := read1(r, &f)
		if err == nil {
			s.Inject(f)
		}
		s.finish(w, nil, err)
	})
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		s.finish(w, nil, nil)
	})
	mux.HandleFunc("PUT /modes", func(w http.ResponseWriter, r *http.Request) {
		var m Modes
		err := read1(r, &m)
		if err == nil {
			s.SetModes(m)
		}
		s.finish(w, nil, err)
	})
	mux.HandleFunc("POST /forget", func(w http.ResponseWriter, r *http.Request) { s.finish(w, nil, s.Forget(r.Context())) })
	mux.HandleFunc("POST /users", func(w http.ResponseWriter, r *http.Request) {
		var u User
		err := read1(r, &u)
		if err == nil {
			u.ID, err = s.AddUser(r.Context(), u.Username, u.Email)
		}
		s.finish(w, map[string]int64{"id": u.ID}, err)
	})
	mux.HandleFunc("POST /admins", func(w http.ResponseWriter, r *http.Request) {
		var u User
		err := read1(r, &u)
		var key string
		if err == nil {
			key, err = s.AddAdmin(r.Context(), u.Username)
		}
		s.finish(w, map[string]string{"key": key}, err)
	})
	return mux
}

// read1 reads the one JSON value of a request to the control handler.
func read1(r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.DisallowUnknownFields() // A misspelt fault would never be met.
	if d.Decode(v) != nil {
		return refuse(http.StatusBadRequest, "the body is not what is expected")
	}
	return nil
}

func (s *Server) finish(w http.ResponseWriter, v any, err error) {
	switch {
	case err != nil:
		s.fail(w, err)
	case v == nil:
		reply(w, http.StatusNoContent, nil)
	default:
		reply(w, http.StatusOK, v)
	}
}
