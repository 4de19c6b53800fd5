/** Kinds of networking, discovery, coordination, events and autoscaling. */
export const networkMessages: string = `
Endpoint: 1 addresses []s, 2 conditions EndpointConditions, 3 hostname s?, 4 targetRef ObjectReference, 5
  deprecatedTopology {}s, 6 nodeName s?, 7 zone s?, 8 hints EndpointHints
EndpointConditions: 1 ready b?, 2 serving b?, 3 terminating b?
EndpointHints: 1 forZones []ForZone, 2 forNodes []ForNode
EndpointSlice: 1 metadata ObjectMeta, 2 endpoints []Endpoint, 3 ports []SliceEndpointPort, 4 addressType s
ForNode: 1 name s
ForZone: 1 name s
HTTPIngressPath: 1 path s, 2 backend IngressBackend, 3 pathType s?
HTTPIngressRuleValue: 1 paths []HTTPIngressPath
Ingress: 1 metadata ObjectMeta, 2 spec IngressSpec, 3 status IngressStatus
IngressBackend: 3 resource TypedLocalObjectReference, 4 service IngressServiceBackend
IngressClass: 1 metadata ObjectMeta, 2 spec IngressClassSpec
IngressClassParametersReference: 1 apiGroup s?, 2 kind s, 3 name s, 4 scope s?, 5 namespace s?
IngressClassSpec: 1 controller s, 2 parameters IngressClassParametersReference
IngressLoadBalancerIngress: 1 ip s, 2 hostname s, 4 ports []IngressPortStatus
IngressLoadBalancerStatus: 1 ingress []IngressLoadBalancerIngress
IngressPortStatus: 1 port i, 2 protocol s, 3 error s?
IngressRule: 1 host s, 2 ingressRuleValue ^IngressRuleValue
IngressRuleValue: 1 http HTTPIngressRuleValue
IngressServiceBackend: 1 name s, 2 port ServiceBackendPort
IngressSpec: 1 defaultBackend IngressBackend, 2 tls []IngressTLS, 3 rules []IngressRule, 4 ingressClassName
  s?
IngressStatus: 1 loadBalancer IngressLoadBalancerStatus
IngressTLS: 1 hosts []s, 2 secretName s
Lease: 1 metadata ObjectMeta, 2 spec LeaseSpec
LeaseSpec: 1 holderIdentity s?, 2 leaseDurationSeconds i?, 3 acquireTime MicroTime, 4 renewTime MicroTime, 5
  leaseTransitions i?, 6 strategy s?, 7 preferredHolder s?
NewEvent: 1 metadata ObjectMeta, 2 eventTime MicroTime, 3 series NewEventSeries, 4 reportingController s, 5
  reportingInstance s, 6 action s, 7 reason s, 8 regarding ObjectReference, 9 related ObjectReference, 10
  note s, 11 type s, 12 deprecatedSource EventSource, 13 deprecatedFirstTimestamp Time, 14
  deprecatedLastTimestamp Time, 15 deprecatedCount i
NewEventSeries: 1 count i, 2 lastObservedTime MicroTime
Scale: 1 metadata ObjectMeta, 2 spec ScaleSpec, 3 status ScaleStatus
ScaleSpec: 1 replicas i
ScaleStatus: 1 replicas i, 2 selector s
ServiceBackendPort: 1 name s, 2 number i
SliceEndpointPort: 1 name s?, 2 protocol s?, 3 port i?, 4 appProtocol s?
`;
