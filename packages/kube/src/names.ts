/**
 * The name rules of the API. Each validator returns the rules that a text breaks, worded as kube-apiserver words them; an empty list
 * means valid. Lengths count bytes; everything else allowed is ASCII.
 */

/** A DNS label (RFC 1123): namespaces, port names, parts of host names. */
export function validateDns1123Label(text: string): string[] {
  const broken = tooLongRule(text, dnsLabelBytesMax);
  if (dns1123Label.test(text)) return broken;
  return [...broken, dns1123Subdomain.test(text) ? "must not contain dots" : dns1123LabelRule];
}

/** A DNS subdomain (RFC 1123): the name of most objects. */
export function validateDns1123Subdomain(text: string): string[] {
  const broken = tooLongRule(text, dnsSubdomainBytesMax);
  return dns1123Subdomain.test(text) ? broken : [...broken, dns1123SubdomainRule];
}

/** A DNS label that starts with a letter (RFC 1035): the name of services. */
export function validateDns1035Label(text: string): string[] {
  const broken = tooLongRule(text, dnsLabelBytesMax);
  return dns1035Label.test(text) ? broken : [...broken, dns1035LabelRule];
}

/** `*.` and a DNS subdomain (RFC 1034 §4.3.3): wildcard hosts. */
export function validateWildcardDns1123Subdomain(text: string): string[] {
  const broken = tooLongRule(text, dnsSubdomainBytesMax);
  const valid = text.startsWith("*.") && dns1123Subdomain.test(text.slice(2));
  return valid ? broken : [...broken, wildcardRule];
}

/** The key of a label or annotation: a name of at most 63 bytes, with an optional DNS subdomain and `/` before it. */
export function validateQualifiedName(text: string): string[] {
  const parts = text.split("/");
  if (parts.length > 2) return [qualifiedNameRule];
  const broken: string[] = [];
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === "") broken.push("prefix part must be non-empty");
  else if (prefix !== undefined) {
    broken.push(...validateDns1123Subdomain(prefix).map((rule) => `prefix part ${rule}`));
  }
  if (name === "") broken.push("name part must be non-empty");
  else broken.push(...tooLongRule(name, dnsLabelBytesMax).map((rule) => `name part ${rule}`));
  if (!qualifiedNamePart.test(name)) broken.push(`name part ${qualifiedNamePartRule}`);
  return broken;
}

/** The value of a label: at most 63 bytes, possibly none. */
export function validateLabelValue(text: string): string[] {
  const broken = tooLongRule(text, dnsLabelBytesMax);
  return text === "" || qualifiedNamePart.test(text) ? broken : [...broken, labelValueRule];
}

/** The name of a finalizer: a qualified name; without a domain only the three that the API itself knows. */
export function validateFinalizerName(text: string): string[] {
  const broken = validateQualifiedName(text);
  if (broken.length > 0 || text.includes("/") || standardFinalizers.has(text)) return broken;
  return ["name is neither a standard finalizer name nor is it fully qualified"];
}

/** A name that can stand in a path: neither `.` nor `..`, and without `/` and `%`. */
export function validatePathSegmentName(text: string): string[] {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);
}

/** The key of a config map or secret. */
export function validateConfigMapKey(text: string): string[] {
  const broken = tooLongRule(text, dnsSubdomainBytesMax);
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) broken.push(configMapKeyRule);
  if (text === "." || text === "..") broken.push(`must not be '${text}'`);
  else if (text.startsWith("..")) broken.push("must not start with '..'");
  return broken;
}

/**
 * A name made from a `generateName` prefix: the prefix, cut so that 63 bytes suffice, and five random characters. The alphabet has
 * no vowels, so that no words come out. `random` gives numbers in [0, 1).
 */
export function generatedName(prefix: string, random: () => number): string {
  let suffix = "";
  for (let i = 0; i < generatedSuffixLength; i++) {
    suffix += generatedAlphabet[Math.floor(random() * generatedAlphabet.length)] ?? generatedAlphabet[0];
  }
  return prefix.slice(0, dnsLabelBytesMax - generatedSuffixLength) + suffix;
}

const dnsLabelBytesMax = 63;
const dnsSubdomainBytesMax = 253;
const generatedSuffixLength = 5;
const generatedAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const standardFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

const dns1123LabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const dns1123SubdomainPattern = `${dns1123LabelPattern}(\\.${dns1123LabelPattern})*`;
const dns1035LabelPattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
const qualifiedNamePattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const dns1123Label = new RegExp(`^${dns1123LabelPattern}$`);
const dns1123Subdomain = new RegExp(`^${dns1123SubdomainPattern}$`);
const dns1035Label = new RegExp(`^${dns1035LabelPattern}$`);
const qualifiedNamePart = new RegExp(`^${qualifiedNamePattern}$`);

const dns1123LabelRule = patternRule(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  dns1123LabelPattern,
  ["my-name", "123-abc"],
);
const dns1123SubdomainRule = patternRule(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  dns1123SubdomainPattern,
  ["example.com"],
);
const dns1035LabelRule = patternRule(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  dns1035LabelPattern,
  ["my-name", "abc-123"],
);
const wildcardRule = patternRule(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${dns1123SubdomainPattern}`,
  ["*.example.com"],
);
const qualifiedNamePartRule = patternRule(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualifiedNamePattern,
  ["MyName", "my.name", "123-abc"],
);
const qualifiedNameRule = `a qualified name ${qualifiedNamePartRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
const labelValueRule = patternRule(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${qualifiedNamePattern})?`,
  ["MyValue", "my_value", "12345"],
);
const configMapKeyRule = patternRule(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  "[-._a-zA-Z0-9]+",
  ["key.name", "KEY_NAME", "key-name"],
);

function patternRule(rule: string, pattern: string, examples: readonly string[]): string {
  const list = examples.map((example) => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${list}regex used for validation is '${pattern}')`;
}

function tooLongRule(text: string, bytesMax: number): string[] {
  return utf8Length(text) > bytesMax ? [`must be no more than ${bytesMax} bytes`] : [];
}

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    // A surrogate pair is one code point of four bytes; a lone half becomes U+FFFD, which has three.
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 4;
      at++;
    } else bytes += 3;
  }
  return bytes;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;
