package toolchain

import "context"

// Root returns the root folder of this project.
func Root(ctx context.Context) (string, error) { return moduleRoot(ctx) }
