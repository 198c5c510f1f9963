package terdut

import (
	"encoding/json"
	"errors"
	"math"
	"time"
)

// A Duration on the wire is a string of Go's, for example "15m0s". When it is read, a number of seconds will do too, and none is 0.
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return errors.New("no duration")
	}
	switch v := v.(type) {
	case nil:
		*d = 0
		return nil
	case float64:
		ns := math.Round(v * float64(time.Second))
		if math.Abs(ns) >= math.MaxInt64 {
			return errors.New("no duration")
		}
		*d = Duration(ns)
		return nil
	case string:
		p, err := time.ParseDuration(v)
		if err != nil {
			return errors.New("no duration")
		}
		*d = Duration(p)
		return nil
	}
	return errors.New("no duration")
}

// sendable durations are those that the server can hold (s): positive, in whole seconds.
func (d Duration) sendable() bool { return d > 0 && time.Duration(d)%time.Second == 0 }

const unsendable = "a timeout must be a positive number of whole seconds"
