package setup

import (
	"testing"
	"time"
)

// TestPatience holds that a server which stops to answer is given time, all objects together, and that an answer gives it that time anew.
func TestPatience(t *testing.T) {
	p := &Patience{}
	for range 2 {
		if p.Over("one") {
			t.Error("a failure or two are enough")
		}
	}
	ago := func(server string, since, last time.Duration) {
		now := time.Now()
		p.servers[server] = silence{since: now.Add(-since), last: now.Add(-last)}
	}
	ago("one", patience+time.Second, time.Second)
	if !p.Over("one") {
		t.Error("the server was given enough time")
	}
	if p.Over("two") {
		t.Error("another server is held to it")
	}
	p.Answered("one")
	if p.Over("one") {
		t.Error("an answer does not count")
	}
	ago("one", time.Hour, forgetful+time.Second)
	if p.Over("one") {
		t.Error("a silence that ended long ago counts")
	}
}
