/**
 * An authoritative DNS server and a DNS client.
 *
 * @module @meridian/dns
 */

export { Authority } from "./server/authority.ts";
export type { AuthorityOptions, NotifyHint, TakeNotify } from "./server/authority.ts";
export type { AuthorityCounters } from "./server/answer-counters.ts";
export { PublicationLease } from "./server/publication-lease.ts";
export { CookieSecrets } from "./server/cookie-secrets.ts";
export type { CookieSecretOctets } from "./server/cookie-secrets.ts";
export { AnswerCore } from "./server/answer-core.ts";
export type { AnswerCoreOptions } from "./server/answer-core.ts";
export type { AnswerSettings, SharedAuthority, SharedZone } from "./server/shared-authority.ts";
export { serveDns } from "./server/serve-dns.ts";
export type { DnsServer, DnsServerCounters, ServeDnsOptions } from "./server/serve-dns.ts";
export { RateLimit } from "./server/rate-limit.ts";
export type { RateLimitCounters, RateLimitOptions, SharedRateLimit } from "./server/rate-limit.ts";
export { QueryLog } from "./server/query-log.ts";
export type { QueryLogCounters, QueryLogOptions } from "./server/query-log.ts";
export { registerDnsMetrics } from "./server/metrics.ts";
export type { DnsMetricsSources, PartCounters } from "./server/metrics.ts";
export type { TcpCounters, TcpLimits } from "./server/tcp-sessions.ts";
export { TlsIdentityFiles } from "./server/tls-identity.ts";
export type { TlsIdentityFilesOptions } from "./server/tls-identity.ts";
export { answerProxied } from "./server/proxy-datagrams.ts";
export { ProxySources } from "./server/proxy-sources.ts";
export { Zone } from "./zone/zone.ts";
export type { ZoneOptions } from "./zone/zone.ts";
export type { ZoneSoa } from "./zone/zone-apex.ts";
export type { WireRecord, ZoneDelta, ZoneSnapshot } from "./zone/wire-record.ts";
export type { AnswerOutcome, SigningContext, UnsignedAnswer, ZoneSigner } from "./zone/zone-signer.ts";
export type { RecordProblem } from "./zone/record-check.ts";
export type { AnswerPolicy, GeoGroup, RecordSet, WeightedGroup } from "./zone/record-set.ts";
export { GeoSelector } from "./geo/geo-selector.ts";
export type { GeoAddress, GeoChoice, GeoSet } from "./geo/geo-selector.ts";
export type { GeoState } from "./geo/geo-state.ts";
export { networkFromText } from "./geo/geo-network.ts";
export { GeoSource } from "./geo/geo-source.ts";
export type { GeoProblem, GeoSourceOptions, GeoStatus, WatchedFile } from "./geo/geo-source.ts";
export { compileGeo } from "./geo/compile-geo.ts";
export type { GeoInputs } from "./geo/compile-geo.ts";
export { MmdbFile } from "./geo/mmdb-file.ts";
export { readGeoSettings } from "./geo/geo-settings.ts";
export type { GeoSettings, ReadGeoSettings } from "./geo/geo-settings.ts";
export { parseGeoMap } from "./geo/geo-map.ts";
export type { GeoMap, GeoMapProblem, GeoMapResult, MappedNetwork } from "./geo/geo-map.ts";
export type { GeoNetwork } from "./geo/geo-network.ts";
export { parseZoneFile, ZoneFileReader } from "./zone/zone-file.ts";
export type { ZoneFileOptions, ZoneFileResult } from "./zone/zone-file.ts";
export type { ZoneFileProblem } from "./zone/zone-text.ts";
export { WorkSlices } from "./zone/work-slices.ts";
export { isNewerSerial, nextSerial } from "./zone/serial.ts";
export { DnsClient } from "./client/dns-client.ts";
export type { DnsClientOptions, NotifyOptions, NotifyResult } from "./client/dns-client.ts";
export type { DnsQuestion } from "./client/question-asking.ts";
export type { DnsTlsOptions } from "./client/stream-exchanges.ts";
export type { Answered, Refused, Unreachable, Verdict } from "./client/verdict.ts";
export type { ResourceRecord } from "./message/resource-record.ts";
export { DnsError } from "./dns-error.ts";
export type { DnsErrorCode } from "./dns-error.ts";
export { composeMessage, parseMessage } from "./message/message.ts";
export type { Edns, Message, MessageRecord, Question } from "./message/message.ts";
export { foldTypeText } from "./message/codes.ts";
export { textToTxtData } from "./message/rdata-text.ts";
export { foldNameText } from "./name/name.ts";
export { parseTsigKey } from "./tsig/tsig-key.ts";
export type { TsigAlgorithm, TsigKey, TsigKeyText } from "./tsig/tsig-key.ts";
export { parseTsigKeyFile } from "./tsig/tsig-key-file.ts";
export { TsigKeyring } from "./tsig/tsig-keyring.ts";
export { createRequestPipeline } from "./server/request-pipeline.ts";
export type { RequestPipelineOptions } from "./server/request-pipeline.ts";
export type { DnsRequest, RequestHandler, RequestPipeline, VerifiedRequest } from "./server/dns-request.ts";
export { UpdateServer } from "./update/update-server.ts";
export { warmUpUpdates } from "./update/warm-up-updates.ts";
export type { UpdatableZone, UpdateCounters, UpdateServerOptions } from "./update/update-server.ts";
export type { UpdateRule } from "./update/update-policy.ts";
export { TransferServer } from "./transfer/transfer-server.ts";
export type {
  TransferableZone,
  TransferCounters,
  TransferServerOptions,
} from "./transfer/transfer-server.ts";
export { TransferPolicy } from "./transfer/transfer-policy.ts";
export type { AccessGrant, AccessRule } from "./transfer/transfer-policy.ts";
export { ZoneTransferClient } from "./transfer/zone-transfer-client.ts";
export type {
  ZoneTransfer,
  ZoneTransferClientOptions,
  ZoneTransferCounters,
  ZoneTransferQuestion,
} from "./transfer/zone-transfer-client.ts";
export type { Primary, TransferOutcome } from "./transfer/transfer-exchange.ts";
export { SecondaryZone } from "./transfer/secondary-zone.ts";
export type { NotifySender, SecondaryState, SecondaryZoneOptions } from "./transfer/secondary-zone.ts";
export type { RefreshBounds } from "./transfer/refresh-times.ts";
export { ZoneNotifier } from "./transfer/zone-notifier.ts";
export type { NotifiedZone, NotifierCounters, NotifyTarget } from "./transfer/zone-notifier.ts";
export { AnswerSigner } from "./dnssec/answer-signer.ts";
export type { AnswerSignerOptions, SigningCounters } from "./dnssec/answer-signer.ts";
export type { ZoneSigning } from "./dnssec/online-signer.ts";
export { ZoneKeys } from "./dnssec/zone-keys.ts";
export type { ZoneKeysContext, ZoneKeysOptions } from "./dnssec/zone-keys.ts";
export { dnskeyOf, dsToText, keyState, keyTagOf } from "./dnssec/signing-key.ts";
export type { ForeignKey, KeyState, KeyTimes, SigningKey, SigningKeys } from "./dnssec/signing-key.ts";
export { generateKey } from "./dnssec/generate-key.ts";
export { keyFromFiles, keyFromPem, keyToFiles } from "./dnssec/key-file.ts";
export type { KeyFiles, NamedKeyFiles } from "./dnssec/key-file.ts";
export { introduceKey, scheduleTakeover } from "./dnssec/key-rollover.ts";
export type { KeySightings, RolloverDelays } from "./dnssec/key-rollover.ts";
export { fetchPeerKeys } from "./dnssec/peer-keys.ts";
export { KeyExchange } from "./dnssec/key-exchange.ts";
export type { KeyExchangeOptions, KeyExchangeRound } from "./dnssec/key-exchange.ts";
export type { KeyQuestion, PeerKeys } from "./dnssec/peer-keys.ts";
export { findPrimary } from "./update/find-primary.ts";
export type { PrimaryResult } from "./update/find-primary.ts";
export { updateZone } from "./update/update-zone.ts";
export type { UpdateVerdict, UpdateZoneOptions } from "./update/update-zone.ts";
export type { UpdateChange, UpdatePrerequisite } from "./update/compose-update.ts";
