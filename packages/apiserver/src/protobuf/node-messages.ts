/** Nodes. */
export const nodeMessages: string = `
AttachedVolume: 1 name s, 2 devicePath s
ConfigMapNodeConfigSource: 1 namespace s, 2 name s, 3 uid s, 4 resourceVersion s, 5 kubeletConfigKey s
ContainerImage: 1 names []s, 2 sizeBytes i
DaemonEndpoint: 1 Port i
Node: 1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus
NodeAddress: 1 type s, 2 address s
NodeCondition: 1 type s, 2 status s, 3 lastHeartbeatTime Time, 4 lastTransitionTime Time, 5 reason s, 6
  message s
NodeConfigSource: 2 configMap ConfigMapNodeConfigSource
NodeConfigStatus: 1 assigned NodeConfigSource, 2 active NodeConfigSource, 3 lastKnownGood
  NodeConfigSource, 4 error s
NodeDaemonEndpoints: 1 kubeletEndpoint DaemonEndpoint
NodeFeatures: 1 supplementalGroupsPolicy b?
NodeRuntimeHandler: 1 name s, 2 features NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: 1 recursiveReadOnlyMounts b?, 2 userNamespaces b?
NodeSpec: 1 podCIDR s, 7 podCIDRs []s, 3 providerID s, 4 unschedulable b, 5 taints []Taint, 6 configSource
  NodeConfigSource, 2 externalID s
NodeStatus: 1 capacity {}Quantity, 2 allocatable {}Quantity, 3 phase s, 4 conditions []NodeCondition, 5
  addresses []NodeAddress, 6 daemonEndpoints NodeDaemonEndpoints, 7 nodeInfo NodeSystemInfo, 8 images
  []ContainerImage, 9 volumesInUse []s, 10 volumesAttached []AttachedVolume, 11 config NodeConfigStatus,
  12 runtimeHandlers []NodeRuntimeHandler, 13 features NodeFeatures, 14 declaredFeatures []s
NodeSwapStatus: 1 capacity i?
NodeSystemInfo: 1 machineID s, 2 systemUUID s, 3 bootID s, 4 kernelVersion s, 5 osImage s, 6
  containerRuntimeVersion s, 7 kubeletVersion s, 8 kubeProxyVersion s, 9 operatingSystem s, 10
  architecture s, 11 swap NodeSwapStatus
Taint: 1 key s, 2 value s, 3 effect s, 4 timeAdded Time
`;
