// Module neighbours pins what TerdutServers meet in a cluster. Nothing of it is built: tests install its CustomResourceDefinitions.
module github.com/ryuvia/provider-terdut/cluster/tools/neighbours

go 1.26.0
