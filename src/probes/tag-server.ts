/** Tag servers as probes see them, from outside and through those who host them. The way into `tag-server/`. */
export { healthEndpoints, shownAddress } from './tag-server/addresses.ts'
export { CERTIFICATE_SETTINGS, certificateFaults } from './tag-server/certificate.ts'
export { badFindings, judged, objectIn, sinceInMemory, sinceText, statusSince } from './tag-server/check-finding.ts'
export { checkGtmJs } from './tag-server/gtm-js.ts'
export { checkHealth } from './tag-server/health.ts'
export { checkHostingA, checkHostingB } from './tag-server/hosting.ts'
export { lookFromOutside } from './tag-server/outside.ts'
