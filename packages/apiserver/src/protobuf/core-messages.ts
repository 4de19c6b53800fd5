/** Core kinds (v1), save what stands inside a pod. */
export const coreMessages: string = `
ClientIPConfig: 1 timeoutSeconds i?
ConfigMap: 1 metadata ObjectMeta, 2 data {}s, 3 binaryData {}y, 4 immutable b?
ContainerExtendedResourceRequest: 1 containerName s, 2 resourceName s, 3 requestName s
ContainerState: 1 waiting ContainerStateWaiting, 2 running ContainerStateRunning, 3 terminated
  ContainerStateTerminated
ContainerStateRunning: 1 startedAt Time
ContainerStateTerminated: 1 exitCode i, 2 signal i, 3 reason s, 4 message s, 5 startedAt Time, 6 finishedAt
  Time, 7 containerID s
ContainerStateWaiting: 1 reason s, 2 message s
ContainerStatus: 1 name s, 2 state ContainerState, 3 lastState ContainerState, 4 ready b, 5 restartCount i,
  6 image s, 7 imageID s, 8 containerID s, 9 started b?, 10 allocatedResources {}Quantity, 11 resources
  ResourceRequirements, 12 volumeMounts []VolumeMountStatus, 13 user ContainerUser, 14
  allocatedResourcesStatus []ResourceStatus, 15 stopSignal s?
ContainerUser: 1 linux LinuxContainerUser
EndpointAddress: 1 ip s, 2 targetRef ObjectReference, 3 hostname s, 4 nodeName s?
EndpointPort: 1 name s, 2 port i, 3 protocol s, 4 appProtocol s?
EndpointSubset: 1 addresses []EndpointAddress, 2 notReadyAddresses []EndpointAddress, 3 ports []EndpointPort
Endpoints: 1 metadata ObjectMeta, 2 subsets []EndpointSubset
Event: 1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason s, 4 message s, 5 source
  EventSource, 6 firstTimestamp Time, 7 lastTimestamp Time, 8 count i, 9 type s, 10 eventTime MicroTime, 11
  series EventSeries, 12 action s, 13 related ObjectReference, 14 reportingComponent s, 15 reportingInstance
  s
EventSeries: 1 count i, 2 lastObservedTime MicroTime
EventSource: 1 component s, 2 host s
HostIP: 1 ip s
ImageVolumeStatus: 1 imageRef s
LimitRange: 1 metadata ObjectMeta, 2 spec LimitRangeSpec
LimitRangeItem: 1 type s, 2 max {}Quantity, 3 min {}Quantity, 4 default {}Quantity, 5 defaultRequest
  {}Quantity, 6 maxLimitRequestRatio {}Quantity
LimitRangeSpec: 1 limits []LimitRangeItem
LinuxContainerUser: 1 uid i, 2 gid i, 3 supplementalGroups []i
LoadBalancerIngress: 1 ip s, 2 hostname s, 3 ipMode s?, 4 ports []PortStatus
LoadBalancerStatus: 1 ingress []LoadBalancerIngress
ModifyVolumeStatus: 1 targetVolumeAttributesClassName s, 2 status s
Namespace: 1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus
NamespaceCondition: 1 type s, 2 status s, 4 lastTransitionTime Time, 5 reason s, 6 message s
NamespaceSpec: 1 finalizers []s
NamespaceStatus: 1 phase s, 2 conditions []NamespaceCondition
NodeAllocatableResourceClaimStatus: 1 resourceClaimName s, 2 containers []s, 3 resources {}Quantity
ObjectReference: 1 kind s, 2 namespace s, 3 name s, 4 uid s, 5 apiVersion s, 6 resourceVersion s, 7
  fieldPath s
PersistentVolumeClaim: 1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status
  PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: 1 type s, 2 status s, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5
  reason s, 6 message s
PersistentVolumeClaimStatus: 1 phase s, 2 accessModes []s, 3 capacity {}Quantity, 4 conditions
  []PersistentVolumeClaimCondition, 5 allocatedResources {}Quantity, 7 allocatedResourceStatuses {}s, 8
  currentVolumeAttributesClassName s?, 9 modifyVolumeStatus ModifyVolumeStatus
Pod: 1 metadata ObjectMeta, 2 spec PodSpec, 3 status PodStatus
PodCondition: 1 type s, 2 status s, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5 reason s, 6 message
  s, 7 observedGeneration i
PodExtendedResourceClaimStatus: 1 requestMappings []ContainerExtendedResourceRequest, 2 resourceClaimName s
PodIP: 1 ip s
PodResourceClaimStatus: 1 name s, 2 resourceClaimName s?
PodStatus: 1 phase s, 2 conditions []PodCondition, 3 message s, 4 reason s, 5 hostIP s, 6 podIP s, 7
  startTime Time, 8 containerStatuses []ContainerStatus, 9 qosClass s, 10 initContainerStatuses
  []ContainerStatus, 11 nominatedNodeName s, 12 podIPs []PodIP, 13 ephemeralContainerStatuses
  []ContainerStatus, 14 resize s, 15 resourceClaimStatuses []PodResourceClaimStatus, 16 hostIPs []HostIP, 17
  observedGeneration i, 18 extendedResourceClaimStatus PodExtendedResourceClaimStatus, 19 allocatedResources
  {}Quantity, 20 resources ResourceRequirements, 21 nodeAllocatableResourceClaimStatuses
  []NodeAllocatableResourceClaimStatus
PodTemplateSpec: 1 metadata ObjectMeta, 2 spec PodSpec
PortStatus: 1 port i, 2 protocol s, 3 error s?
ReplicationController: 1 metadata ObjectMeta, 2 spec ReplicationControllerSpec, 3 status
  ReplicationControllerStatus
ReplicationControllerCondition: 1 type s, 2 status s, 3 lastTransitionTime Time, 4 reason s, 5 message s
ReplicationControllerSpec: 1 replicas i?, 2 selector {}s, 3 template PodTemplateSpec, 4 minReadySeconds i
ReplicationControllerStatus: 1 replicas i, 2 fullyLabeledReplicas i, 3 observedGeneration i, 4 readyReplicas
  i, 5 availableReplicas i, 6 conditions []ReplicationControllerCondition
ResourceHealth: 1 resourceID s, 2 health s, 6 message s?
ResourceQuota: 1 metadata ObjectMeta, 2 spec ResourceQuotaSpec, 3 status ResourceQuotaStatus
ResourceQuotaSpec: 1 hard {}Quantity, 2 scopes []s, 3 scopeSelector ScopeSelector
ResourceQuotaStatus: 1 hard {}Quantity, 2 used {}Quantity
ResourceStatus: 1 name s, 2 resources []ResourceHealth
ScopeSelector: 1 matchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement: 1 scopeName s, 2 operator s, 3 values []s
Secret: 1 metadata ObjectMeta, 2 data {}y, 3 type s, 4 stringData {}s, 5 immutable b?
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus
ServiceAccount: 1 metadata ObjectMeta, 2 secrets []ObjectReference, 3 imagePullSecrets
  []LocalObjectReference, 4 automountServiceAccountToken b?
ServicePort: 1 name s, 2 protocol s, 3 port i, 4 targetPort IntOrString, 5 nodePort i, 6 appProtocol s?
ServiceSpec: 1 ports []ServicePort, 2 selector {}s, 3 clusterIP s, 4 type s, 5 externalIPs []s, 7
  sessionAffinity s, 8 loadBalancerIP s, 9 loadBalancerSourceRanges []s, 10 externalName s, 11
  externalTrafficPolicy s, 12 healthCheckNodePort i, 13 publishNotReadyAddresses b, 14 sessionAffinityConfig
  SessionAffinityConfig, 17 ipFamilyPolicy s?, 18 clusterIPs []s, 19 ipFamilies []s, 20
  allocateLoadBalancerNodePorts b?, 21 loadBalancerClass s?, 22 internalTrafficPolicy s?, 23
  trafficDistribution s?
ServiceStatus: 1 loadBalancer LoadBalancerStatus, 2 conditions []Condition
SessionAffinityConfig: 1 clientIP ClientIPConfig
VolumeMountStatus: 1 name s, 2 mountPath s, 3 readOnly b, 4 recursiveReadOnly s?, 5 volumeStatus
  VolumeStatus
VolumeStatus: 1 image ImageVolumeStatus
`;
