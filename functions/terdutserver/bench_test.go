package main

import (
	"testing"
)

// BenchmarkRunFunction measures one call for a server that is ready.
func BenchmarkRunFunction(b *testing.B) {
	f, req := newFunction(), request(xr(), everything(), nil)
	for b.Loop() {
		if _, err := f.RunFunction(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
