/** Metadata of objects, and how to delete them. */
export const metaMessages: string = `
Condition: 1 type s, 2 status s, 3 observedGeneration i, 4 lastTransitionTime Time, 5 reason s, 6 message s
DeleteOptions: 1 gracePeriodSeconds i?, 2 preconditions Preconditions, 3 orphanDependents b?, 4
  propagationPolicy s?, 5 dryRun []s, 6 ignoreStoreReadErrorWithClusterBreakingPotential b?
FieldSelectorRequirement: 1 key s, 2 operator s, 3 values []s
LabelSelector: 1 matchLabels {}s, 2 matchExpressions []LabelSelectorRequirement
LabelSelectorRequirement: 1 key s, 2 operator s, 3 values []s
ManagedFieldsEntry: 1 manager s, 2 operation s, 3 apiVersion s, 4 time Time, 6 fieldsType s, 7 fieldsV1 Raw,
  8 subresource s
ObjectMeta: 1 name s, 2 generateName s, 3 namespace s, 4 selfLink s, 5 uid s, 6 resourceVersion s, 7
  generation i, 8 creationTimestamp Time, 9 deletionTimestamp Time, 10 deletionGracePeriodSeconds i?, 11
  labels {}s, 12 annotations {}s, 13 ownerReferences []OwnerReference, 14 finalizers []s, 17 managedFields
  []ManagedFieldsEntry
OwnerReference: 1 kind s, 3 name s, 4 uid s, 5 apiVersion s, 6 controller b?, 7 blockOwnerDeletion b?
Preconditions: 1 uid s?, 2 resourceVersion s?
`;
