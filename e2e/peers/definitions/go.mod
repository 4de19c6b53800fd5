module meridian.test/peers/definitions

go 1.26.8

require (
	istio.io/api v1.32.0
	sigs.k8s.io/gateway-api v1.6.3
)
