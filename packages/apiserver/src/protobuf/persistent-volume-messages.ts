/** Persistent volumes. */
export const persistentVolumeMessages: string = `
AzureFilePersistentVolumeSource: 1 secretName s, 2 shareName s, 3 readOnly b, 4 secretNamespace s?
CSIPersistentVolumeSource: 1 driver s, 2 volumeHandle s, 3 readOnly b, 4 fsType s, 5 volumeAttributes {}s,
  6 controllerPublishSecretRef SecretReference, 7 nodeStageSecretRef SecretReference, 8
  nodePublishSecretRef SecretReference, 9 controllerExpandSecretRef SecretReference, 10
  nodeExpandSecretRef SecretReference
CephFSPersistentVolumeSource: 1 monitors []s, 2 path s, 3 user s, 4 secretFile s, 5 secretRef
  SecretReference, 6 readOnly b
CinderPersistentVolumeSource: 1 volumeID s, 2 fsType s, 3 readOnly b, 4 secretRef SecretReference
FlexPersistentVolumeSource: 1 driver s, 2 fsType s, 3 secretRef SecretReference, 4 readOnly b, 5 options
  {}s
GlusterfsPersistentVolumeSource: 1 endpoints s, 2 path s, 3 readOnly b, 4 endpointsNamespace s?
ISCSIPersistentVolumeSource: 1 targetPortal s, 2 iqn s, 3 lun i, 4 iscsiInterface s, 5 fsType s, 6
  readOnly b, 7 portals []s, 8 chapAuthDiscovery b, 11 chapAuthSession b, 10 secretRef SecretReference, 12
  initiatorName s?
LocalVolumeSource: 1 path s, 2 fsType s?
PersistentVolume: 1 metadata ObjectMeta, 2 spec PersistentVolumeSpec, 3 status PersistentVolumeStatus
PersistentVolumeSource: 1 gcePersistentDisk GCEPersistentDiskVolumeSource, 2 awsElasticBlockStore
  AWSElasticBlockStoreVolumeSource, 3 hostPath HostPathVolumeSource, 4 glusterfs
  GlusterfsPersistentVolumeSource, 5 nfs NFSVolumeSource, 6 rbd RBDPersistentVolumeSource, 7 iscsi
  ISCSIPersistentVolumeSource, 8 cinder CinderPersistentVolumeSource, 9 cephfs
  CephFSPersistentVolumeSource, 10 fc FCVolumeSource, 11 flocker FlockerVolumeSource, 12 flexVolume
  FlexPersistentVolumeSource, 13 azureFile AzureFilePersistentVolumeSource, 14 vsphereVolume
  VsphereVirtualDiskVolumeSource, 15 quobyte QuobyteVolumeSource, 16 azureDisk AzureDiskVolumeSource, 17
  photonPersistentDisk PhotonPersistentDiskVolumeSource, 18 portworxVolume PortworxVolumeSource, 19
  scaleIO ScaleIOPersistentVolumeSource, 20 local LocalVolumeSource, 21 storageos
  StorageOSPersistentVolumeSource, 22 csi CSIPersistentVolumeSource
PersistentVolumeSpec: 1 capacity {}Quantity, 2 persistentVolumeSource ^PersistentVolumeSource, 3
  accessModes []s, 4 claimRef ObjectReference, 5 persistentVolumeReclaimPolicy s, 6 storageClassName s, 7
  mountOptions []s, 8 volumeMode s?, 9 nodeAffinity VolumeNodeAffinity, 10 volumeAttributesClassName s?
PersistentVolumeStatus: 1 phase s, 2 message s, 3 reason s, 4 lastPhaseTransitionTime Time
RBDPersistentVolumeSource: 1 monitors []s, 2 image s, 3 fsType s, 4 pool s, 5 user s, 6 keyring s, 7
  secretRef SecretReference, 8 readOnly b
ScaleIOPersistentVolumeSource: 1 gateway s, 2 system s, 3 secretRef SecretReference, 4 sslEnabled b, 5
  protectionDomain s, 6 storagePool s, 7 storageMode s, 8 volumeName s, 9 fsType s, 10 readOnly b
SecretReference: 1 name s, 2 namespace s
StorageOSPersistentVolumeSource: 1 volumeName s, 2 volumeNamespace s, 3 fsType s, 4 readOnly b, 5
  secretRef ObjectReference
VolumeNodeAffinity: 1 required NodeSelector
`;
