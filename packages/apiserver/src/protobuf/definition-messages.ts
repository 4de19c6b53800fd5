/** Custom resource definitions. A schema stands beside what may stand there instead of one. */
export const definitionMessages: string = `
CustomResourceColumnDefinition: 1 name s, 2 type s, 3 format s, 4 description s, 5 priority i, 6 jsonPath
  s
CustomResourceConversion: 1 strategy s, 2 webhook WebhookConversion
CustomResourceDefinition: 1 metadata ObjectMeta, 2 spec CustomResourceDefinitionSpec, 3 status
  CustomResourceDefinitionStatus
CustomResourceDefinitionCondition: 1 type s, 2 status s, 3 lastTransitionTime Time, 4 reason s, 5 message
  s, 6 observedGeneration i
CustomResourceDefinitionNames: 1 plural s, 2 singular s, 3 shortNames []s, 4 kind s, 5 listKind s, 6
  categories []s
CustomResourceDefinitionSpec: 1 group s, 3 names CustomResourceDefinitionNames, 4 scope s, 7 versions
  []CustomResourceDefinitionVersion, 9 conversion CustomResourceConversion, 10 preserveUnknownFields b
CustomResourceDefinitionStatus: 1 conditions []CustomResourceDefinitionCondition, 2 acceptedNames
  CustomResourceDefinitionNames, 3 storedVersions []s, 4 observedGeneration i
CustomResourceDefinitionVersion: 1 name s, 2 served b?, 3 storage b?, 7 deprecated b, 8 deprecationWarning
  s?, 4 schema CustomResourceValidation, 5 subresources CustomResourceSubresources, 6
  additionalPrinterColumns []CustomResourceColumnDefinition, 9 selectableFields []SelectableField
CustomResourceSubresourceScale: 1 specReplicasPath s, 2 statusReplicasPath s, 3 labelSelectorPath s?
CustomResourceSubresourceStatus:
CustomResourceSubresources: 1 status CustomResourceSubresourceStatus, 2 scale
  CustomResourceSubresourceScale
CustomResourceValidation: 1 openAPIV3Schema JSONSchemaProps
ExternalDocumentation: 1 description s, 2 url s
JSONSchemaProps: 1 id s, 2 $schema s, 3 $ref s?, 4 description s, 5 type s, 6 format s, 7 title s, 8
  default Raw?, 9 maximum d?, 10 exclusiveMaximum b, 11 minimum d?, 12 exclusiveMinimum b, 13 maxLength i?,
  14 minLength i?, 15 pattern s, 16 maxItems i?, 17 minItems i?, 18 uniqueItems b, 19 multipleOf d?, 20
  enum []Raw, 21 maxProperties i?, 22 minProperties i?, 23 required []s, 24 items SchemaOrSchemas,
  25 allOf []JSONSchemaProps, 26 oneOf []JSONSchemaProps, 27 anyOf []JSONSchemaProps, 28 not
  JSONSchemaProps, 29 properties {}JSONSchemaProps, 30 additionalProperties SchemaOrFlag?, 31
  patternProperties {}JSONSchemaProps, 32 dependencies {}SchemaOrNames, 33 additionalItems
  SchemaOrFlag?, 34 definitions {}JSONSchemaProps, 35 externalDocs ExternalDocumentation, 36
  example Raw?, 37 nullable b, 38 x-kubernetes-preserve-unknown-fields b?, 39
  x-kubernetes-embedded-resource b, 40 x-kubernetes-int-or-string b, 41 x-kubernetes-list-map-keys []s, 42
  x-kubernetes-list-type s?, 43 x-kubernetes-map-type s?, 44 x-kubernetes-validations []ValidationRule
SchemaOrSchemas: 1 schema JSONSchemaProps, 2 schemas []JSONSchemaProps
SchemaOrFlag: 1 flag b?, 2 schema JSONSchemaProps
SchemaOrNames: 1 schema JSONSchemaProps, 2 names []s
SelectableField: 1 jsonPath s
ServiceReference: 1 namespace s, 2 name s, 3 path s?, 4 port i?
ValidationRule: 1 rule s, 2 message s, 3 messageExpression s, 4 reason s?, 5 fieldPath s, 6
  optionalOldSelf b?
WebhookClientConfig: 3 url s?, 1 service ServiceReference, 2 caBundle y
WebhookConversion: 2 clientConfig WebhookClientConfig, 3 conversionReviewVersions []s
`;
