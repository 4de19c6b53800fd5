export { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "@meridian/runtime";
