/** Kinds of rbac, authorization and authentication. */
export const accessMessages: string = `
AggregationRule: 1 clusterRoleSelectors []LabelSelector
ClusterRole: 1 metadata ObjectMeta, 2 rules []PolicyRule, 3 aggregationRule AggregationRule
ClusterRoleBinding: 1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef
FieldSelectorAttributes: 1 rawSelector s, 2 requirements []FieldSelectorRequirement
LabelSelectorAttributes: 1 rawSelector s, 2 requirements []LabelSelectorRequirement
LocalSubjectAccessReview: 1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus
NonResourceAttributes: 1 path s, 2 verb s
NonResourceRule: 1 verbs []s, 2 nonResourceURLs []s
PolicyRule: 1 verbs []s, 2 apiGroups []s, 3 resources []s, 4 resourceNames []s, 5 nonResourceURLs []s
ResourceAttributes: 1 namespace s, 2 verb s, 3 group s, 4 version s, 5 resource s, 6 subresource s, 7 name
  s, 8 fieldSelector FieldSelectorAttributes, 9 labelSelector LabelSelectorAttributes
ResourceRule: 1 verbs []s, 2 apiGroups []s, 3 resources []s, 4 resourceNames []s
Role: 1 metadata ObjectMeta, 2 rules []PolicyRule
RoleBinding: 1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef
RoleRef: 1 apiGroup s, 2 kind s, 3 name s
SelfSubjectAccessReview: 1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes
  NonResourceAttributes
SelfSubjectReview: 1 metadata ObjectMeta, 2 status SelfSubjectReviewStatus
SelfSubjectReviewStatus: 1 userInfo UserInfo
SelfSubjectRulesReview: 1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec, 3 status
  SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: 1 namespace s
Subject: 1 kind s, 2 apiGroup s, 3 name s, 4 namespace s
SubjectAccessReview: 1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus
SubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes
  NonResourceAttributes, 3 user s, 4 groups []s, 5 extra {}strings, 6 uid s
SubjectAccessReviewStatus: 1 allowed b, 2 reason s, 3 evaluationError s, 4 denied b
SubjectRulesReviewStatus: 1 resourceRules []ResourceRule, 2 nonResourceRules []NonResourceRule, 3 incomplete
  b, 4 evaluationError s
UserInfo: 1 username s, 2 uid s, 3 groups []s, 4 extra {}strings
TokenReview: 1 metadata ObjectMeta, 2 spec TokenReviewSpec, 3 status TokenReviewStatus
TokenReviewSpec: 1 token s, 2 audiences []s
TokenReviewStatus: 1 authenticated b, 2 user UserInfo, 3 error s, 4 audiences []s
`;
