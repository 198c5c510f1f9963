// Module neighbours pins what TerdutServers meet in a cluster. Nothing of it is built: tests install its CustomResourceDefinitions.
// go mod tidy would take everything away, because no Go file imports it.
module github.com/ryuvia/provider-terdut/cluster/tools/neighbours

go 1.26.0

require (
	github.com/cloudnative-pg/cloudnative-pg v1.28.0
	github.com/zalando/postgres-operator v1.15.1
	sigs.k8s.io/gateway-api v1.6.3
)
