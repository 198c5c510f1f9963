// Package version holds the version of the build.
package version

// Version of the build. It is set by the linker.
var Version = "v0.1.0"
