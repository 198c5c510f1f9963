module github.com/upbound/uptest

go 1.26.0
