/** What pods run. */
export const podMessages: string = `
Affinity: 1 nodeAffinity NodeAffinity, 2 podAffinity PodAffinity, 3 podAntiAffinity PodAntiAffinity
AppArmorProfile: 1 type s, 2 localhostProfile s?
Capabilities: 1 add []s, 2 drop []s
ConfigMapKeySelector: 1 localObjectReference ^LocalObjectReference, 2 key s, 3 optional b?
Container: 1 name s, 2 image s, 3 command []s, 4 args []s, 5 workingDir s, 6 ports []ContainerPort, 7 env
  []EnvVar, 8 resources ResourceRequirements, 9 volumeMounts []VolumeMount, 10 livenessProbe Probe, 11
  readinessProbe Probe, 12 lifecycle Lifecycle, 13 terminationMessagePath s, 14 imagePullPolicy s, 15
  securityContext SecurityContext, 16 stdin b, 17 stdinOnce b, 18 tty b, 19 envFrom []EnvFromSource, 20
  terminationMessagePolicy s, 21 volumeDevices []VolumeDevice, 22 startupProbe Probe, 23 resizePolicy
  []ContainerResizePolicy, 24 restartPolicy s?, 25 restartPolicyRules []ContainerRestartRule
ContainerPort: 1 name s, 2 hostPort i, 3 containerPort i, 4 protocol s, 5 hostIP s
ContainerResizePolicy: 1 resourceName s, 2 restartPolicy s
ContainerRestartRule: 1 action s, 2 exitCodes ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: 1 operator s, 2 values []i
EnvVar: 1 name s, 2 value s, 3 valueFrom EnvVarSource
EphemeralContainer: 1 ephemeralContainerCommon ^EphemeralContainerCommon, 2 targetContainerName s
EphemeralContainerCommon: 1 name s, 2 image s, 3 command []s, 4 args []s, 5 workingDir s, 6 ports
  []ContainerPort, 7 env []EnvVar, 8 resources ResourceRequirements, 9 volumeMounts []VolumeMount, 10
  livenessProbe Probe, 11 readinessProbe Probe, 12 lifecycle Lifecycle, 13 terminationMessagePath s, 14
  imagePullPolicy s, 15 securityContext SecurityContext, 16 stdin b, 17 stdinOnce b, 18 tty b, 19 envFrom
  []EnvFromSource, 20 terminationMessagePolicy s, 21 volumeDevices []VolumeDevice, 22 startupProbe Probe, 23
  resizePolicy []ContainerResizePolicy, 24 restartPolicy s?, 25 restartPolicyRules []ContainerRestartRule
ExecAction: 1 command []s
FileKeySelector: 1 volumeName s, 2 path s, 3 key s, 4 optional b?
GRPCAction: 1 port i, 2 service s?
HTTPGetAction: 1 path s, 2 port IntOrString, 3 host s, 4 scheme s, 5 httpHeaders []HTTPHeader
HTTPHeader: 1 name s, 2 value s
HostAlias: 1 ip s, 2 hostnames []s
Lifecycle: 1 postStart LifecycleHandler, 2 preStop LifecycleHandler, 3 stopSignal s?
LifecycleHandler: 1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 sleep
  SleepAction
NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector, 2
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
NodeSelector: 1 nodeSelectorTerms []NodeSelectorTerm
NodeSelectorRequirement: 1 key s, 2 operator s, 3 values []s
NodeSelectorTerm: 1 matchExpressions []NodeSelectorRequirement, 2 matchFields []NodeSelectorRequirement
ObjectFieldSelector: 1 apiVersion s, 2 fieldPath s
PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAffinityTerm: 1 labelSelector LabelSelector, 2 namespaces []s, 3 topologyKey s, 4 namespaceSelector
  LabelSelector, 5 matchLabelKeys []s, 6 mismatchLabelKeys []s
PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodDNSConfig: 1 nameservers []s, 2 searches []s, 3 options []PodDNSConfigOption
PodDNSConfigOption: 1 name s, 2 value s?
PodOS: 1 name s
PodReadinessGate: 1 conditionType s
PodResourceClaim: 1 name s, 3 resourceClaimName s?, 4 resourceClaimTemplateName s?
PodSchedulingGate: 1 name s
PodSchedulingGroup: 1 podGroupName s?
PodSecurityContext: 1 seLinuxOptions SELinuxOptions, 2 runAsUser i?, 3 runAsNonRoot b?, 4 supplementalGroups
  []i, 5 fsGroup i?, 6 runAsGroup i?, 7 sysctls []Sysctl, 8 windowsOptions WindowsSecurityContextOptions, 9
  fsGroupChangePolicy s?, 10 seccompProfile SeccompProfile, 11 appArmorProfile AppArmorProfile, 12
  supplementalGroupsPolicy s?, 13 seLinuxChangePolicy s?
PodSpec: 1 volumes []Volume, 2 containers []Container, 3 restartPolicy s, 4 terminationGracePeriodSeconds
  i?, 5 activeDeadlineSeconds i?, 6 dnsPolicy s, 7 nodeSelector {}s, 8 serviceAccountName s, 9
  serviceAccount s, 10 nodeName s, 11 hostNetwork b, 12 hostPID b, 13 hostIPC b, 14 securityContext
  PodSecurityContext, 15 imagePullSecrets []LocalObjectReference, 16 hostname s, 17 subdomain s, 18 affinity
  Affinity, 19 schedulerName s, 20 initContainers []Container, 21 automountServiceAccountToken b?, 22
  tolerations []Toleration, 23 hostAliases []HostAlias, 24 priorityClassName s, 25 priority i?, 26 dnsConfig
  PodDNSConfig, 27 shareProcessNamespace b?, 28 readinessGates []PodReadinessGate, 29 runtimeClassName s?,
  30 enableServiceLinks b?, 31 preemptionPolicy s?, 32 overhead {}Quantity, 33 topologySpreadConstraints
  []TopologySpreadConstraint, 34 ephemeralContainers []EphemeralContainer, 35 setHostnameAsFQDN b?, 36 os
  PodOS, 37 hostUsers b?, 38 schedulingGates []PodSchedulingGate, 39 resourceClaims []PodResourceClaim, 40
  resources ResourceRequirements, 41 hostnameOverride s?, 43 schedulingGroup PodSchedulingGroup
PreferredSchedulingTerm: 1 weight i, 2 preference NodeSelectorTerm
Probe: 1 handler ^ProbeHandler, 2 initialDelaySeconds i, 3 timeoutSeconds i, 4 periodSeconds i, 5
  successThreshold i, 6 failureThreshold i, 7 terminationGracePeriodSeconds i?
ProbeHandler: 1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 grpc GRPCAction
ResourceClaim: 1 name s, 2 request s
ResourceFieldSelector: 1 containerName s, 2 resource s, 3 divisor Quantity
ResourceRequirements: 1 limits {}Quantity, 2 requests {}Quantity, 3 claims []ResourceClaim
SELinuxOptions: 1 user s, 2 role s, 3 type s, 4 level s
SeccompProfile: 1 type s, 2 localhostProfile s?
SecretKeySelector: 1 localObjectReference ^LocalObjectReference, 2 key s, 3 optional b?
SecurityContext: 1 capabilities Capabilities, 2 privileged b?, 3 seLinuxOptions SELinuxOptions, 4 runAsUser
  i?, 5 runAsNonRoot b?, 6 readOnlyRootFilesystem b?, 7 allowPrivilegeEscalation b?, 8 runAsGroup i?, 9
  procMount s?, 10 windowsOptions WindowsSecurityContextOptions, 11 seccompProfile SeccompProfile, 12
  appArmorProfile AppArmorProfile
SleepAction: 1 seconds i
Sysctl: 1 name s, 2 value s
TCPSocketAction: 1 port IntOrString, 2 host s
Toleration: 1 key s, 2 operator s, 3 value s, 4 effect s, 5 tolerationSeconds i?
TopologySpreadConstraint: 1 maxSkew i, 2 topologyKey s, 3 whenUnsatisfiable s, 4 labelSelector
  LabelSelector, 5 minDomains i?, 6 nodeAffinityPolicy s?, 7 nodeTaintsPolicy s?, 8 matchLabelKeys []s
WeightedPodAffinityTerm: 1 weight i, 2 podAffinityTerm PodAffinityTerm
WindowsSecurityContextOptions: 1 gmsaCredentialSpecName s?, 2 gmsaCredentialSpec s?, 3 runAsUserName s?, 4
  hostProcess b?
`;
