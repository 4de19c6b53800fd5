/** Kinds of apps/v1 and batch/v1. */
export const workloadMessages: string = `
ControllerRevision: 1 metadata ObjectMeta, 2 data Raw, 3 revision i
CronJob: 1 metadata ObjectMeta, 2 spec CronJobSpec, 3 status CronJobStatus
CronJobSpec: 1 schedule s, 2 startingDeadlineSeconds i?, 3 concurrencyPolicy s, 4 suspend b?, 5 jobTemplate
  JobTemplateSpec, 6 successfulJobsHistoryLimit i?, 7 failedJobsHistoryLimit i?, 8 timeZone s?
CronJobStatus: 1 active []ObjectReference, 4 lastScheduleTime Time, 5 lastSuccessfulTime Time
DaemonSet: 1 metadata ObjectMeta, 2 spec DaemonSetSpec, 3 status DaemonSetStatus
DaemonSetCondition: 1 type s, 2 status s, 3 lastTransitionTime Time, 4 reason s, 5 message s
DaemonSetSpec: 1 selector LabelSelector, 2 template PodTemplateSpec, 3 updateStrategy
  DaemonSetUpdateStrategy, 4 minReadySeconds i, 6 revisionHistoryLimit i?
DaemonSetStatus: 1 currentNumberScheduled i, 2 numberMisscheduled i, 3 desiredNumberScheduled i, 4
  numberReady i, 5 observedGeneration i, 6 updatedNumberScheduled i, 7 numberAvailable i, 8
  numberUnavailable i, 9 collisionCount i?, 10 conditions []DaemonSetCondition
DaemonSetUpdateStrategy: 1 type s, 2 rollingUpdate RollingUpdateDaemonSet
Deployment: 1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status DeploymentStatus
DeploymentCondition: 1 type s, 2 status s, 4 reason s, 5 message s, 6 lastUpdateTime Time, 7
  lastTransitionTime Time
DeploymentSpec: 1 replicas i?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy
  DeploymentStrategy, 5 minReadySeconds i, 6 revisionHistoryLimit i?, 7 paused b, 9 progressDeadlineSeconds
  i?
DeploymentStatus: 1 observedGeneration i, 2 replicas i, 3 updatedReplicas i, 4 availableReplicas i, 5
  unavailableReplicas i, 6 conditions []DeploymentCondition, 7 readyReplicas i, 8 collisionCount i?, 9
  terminatingReplicas i?
DeploymentStrategy: 1 type s, 2 rollingUpdate RollingUpdateDeployment
Job: 1 metadata ObjectMeta, 2 spec JobSpec, 3 status JobStatus
JobCondition: 1 type s, 2 status s, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5 reason s, 6 message s
JobSpec: 1 parallelism i?, 2 completions i?, 3 activeDeadlineSeconds i?, 4 selector LabelSelector, 5
  manualSelector b?, 6 template PodTemplateSpec, 7 backoffLimit i?, 8 ttlSecondsAfterFinished i?, 9
  completionMode s?, 10 suspend b?, 11 podFailurePolicy PodFailurePolicy, 12 backoffLimitPerIndex i?, 13
  maxFailedIndexes i?, 14 podReplacementPolicy s?, 15 managedBy s?, 16 successPolicy SuccessPolicy
JobStatus: 1 conditions []JobCondition, 2 startTime Time, 3 completionTime Time, 4 active i, 5 succeeded i,
  6 failed i, 7 completedIndexes s, 8 uncountedTerminatedPods UncountedTerminatedPods, 9 ready i?, 10
  failedIndexes s?, 11 terminating i?
JobTemplateSpec: 1 metadata ObjectMeta, 2 spec JobSpec
PodFailurePolicy: 1 rules []PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: 1 containerName s?, 2 operator s, 3 values []i
PodFailurePolicyOnPodConditionsPattern: 1 type s, 2 status s
PodFailurePolicyRule: 1 action s, 2 onExitCodes PodFailurePolicyOnExitCodesRequirement, 3 onPodConditions
  []PodFailurePolicyOnPodConditionsPattern
ReplicaSet: 1 metadata ObjectMeta, 2 spec ReplicaSetSpec, 3 status ReplicaSetStatus
ReplicaSetCondition: 1 type s, 2 status s, 3 lastTransitionTime Time, 4 reason s, 5 message s
ReplicaSetSpec: 1 replicas i?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 minReadySeconds i
ReplicaSetStatus: 1 replicas i, 2 fullyLabeledReplicas i, 3 observedGeneration i, 4 readyReplicas i, 5
  availableReplicas i, 6 conditions []ReplicaSetCondition, 7 terminatingReplicas i?
RollingUpdateDaemonSet: 1 maxUnavailable IntOrString, 2 maxSurge IntOrString
RollingUpdateDeployment: 1 maxUnavailable IntOrString, 2 maxSurge IntOrString
RollingUpdateStatefulSetStrategy: 1 partition i?, 2 maxUnavailable IntOrString
StatefulSet: 1 metadata ObjectMeta, 2 spec StatefulSetSpec, 3 status StatefulSetStatus
StatefulSetCondition: 1 type s, 2 status s, 3 lastTransitionTime Time, 4 reason s, 5 message s
StatefulSetOrdinals: 1 start i
StatefulSetPersistentVolumeClaimRetentionPolicy: 1 whenDeleted s, 2 whenScaled s
StatefulSetSpec: 1 replicas i?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 volumeClaimTemplates
  []PersistentVolumeClaim, 5 serviceName s, 6 podManagementPolicy s, 7 updateStrategy
  StatefulSetUpdateStrategy, 8 revisionHistoryLimit i?, 9 minReadySeconds i, 10
  persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy, 11 ordinals
  StatefulSetOrdinals
StatefulSetStatus: 1 observedGeneration i, 2 replicas i, 3 readyReplicas i, 4 currentReplicas i, 5
  updatedReplicas i, 6 currentRevision s, 7 updateRevision s, 9 collisionCount i?, 10 conditions
  []StatefulSetCondition, 11 availableReplicas i
StatefulSetUpdateStrategy: 1 type s, 2 rollingUpdate RollingUpdateStatefulSetStrategy
SuccessPolicy: 1 rules []SuccessPolicyRule
SuccessPolicyRule: 1 succeededIndexes s?, 2 succeededCount i?
UncountedTerminatedPods: 1 succeeded []s, 2 failed []s
`;
