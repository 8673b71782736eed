import type { Provider } from './provider.ts'

/**
 * Public facts: hosts and paths of the providers' own snippets, and what these leave in a page. A new provider is one more
 * entry; the tests of `cmp_check` test each one.
 */
export const PROVIDERS: readonly Provider[] = [
  {
    id: 'cookiebot',
    name: 'Cookiebot',
    aliases: ['cybot'],
    urls: [{ host: 'consent.cookiebot.com' }, { host: 'consent.cookiebot.eu' }, { host: 'consentcdn.cookiebot.com' }],
    elements: ['#Cookiebot', '#CookieDeclaration', '[data-cbid]'],
    setsConsentMode: true,
  },
  {
    id: 'onetrust',
    name: 'OneTrust',
    aliases: ['cookiepro', 'optanon'],
    urls: [
      { host: 'cdn.cookielaw.org' },
      { host: 'cdn-ukwest.onetrust.com' },
      { host: 'cookie-cdn.cookiepro.com' },
      { host: 'optanon.blob.core.windows.net' },
      { path: /\/otSDKStub\.js$/ },
    ],
    setup: ['OptanonWrapper'],
    elements: ['#onetrust-consent-sdk', '#onetrust-banner-sdk'],
    leftovers: ['#ot-sdk-btn'],
    setsConsentMode: true,
  },
  {
    id: 'usercentrics',
    name: 'Usercentrics',
    urls: [{ host: '*.usercentrics.eu' }],
    elements: ['#usercentrics-cmp', '#usercentrics-root', '[data-settings-id]', '[data-ruleset-id]'],
    setsConsentMode: true,
  },
  {
    id: 'didomi',
    name: 'Didomi',
    urls: [{ host: 'sdk.privacy-center.org' }],
    setup: ['didomiConfig', 'didomiOnReady'],
    elements: ['#didomi-host', '#spcloader'],
    setsConsentMode: true,
  },
  {
    id: 'axeptio',
    name: 'Axeptio',
    urls: [{ host: 'static.axept.io', path: /\/sdk(-slim)?\.js$/ }],
    setup: ['axeptioSettings'],
    elements: ['.axeptio_mount', '#axeptio_overlay'],
    setsConsentMode: true,
  },
  {
    id: 'iubenda',
    name: 'iubenda',
    // Their other hosts serve the link to a privacy policy, which sites also have without the banner.
    urls: [{ host: 'cs.iubenda.com' }, { host: 'cdn.iubenda.com', path: /^\/(cs|cookie_solution)\// }],
    setup: ['_iub'],
    elements: ['#iubenda-cs-banner'],
    setsConsentMode: true,
  },
  {
    id: 'cookieyes',
    name: 'CookieYes',
    aliases: ['cookielawinfo'],
    urls: [
      { host: 'cdn-cookieyes.com', path: /^\/client_data\// },
      { host: 'app.cookieyes.com', path: /^\/client_data\// },
      { path: /\/plugins\/cookie-law-info\// },
    ],
    elements: ['#cookieyes', '#cky-style', '#cookie-law-info-js'],
    setsConsentMode: true,
  },
  {
    id: 'complianz',
    name: 'Complianz',
    urls: [{ path: /\/plugins\/complianz-(gdpr|terms-conditions)(-premium)?\//, ends: '.js' }],
    elements: ['#cmplz-cookiebanner-container', '#cmplz-cookiebanner-js', '[data-cmplz-src]'],
    setsConsentMode: true,
  },
  {
    id: 'trustarc',
    name: 'TrustArc',
    aliases: ['truste'],
    urls: [{ host: 'consent.trustarc.com' }, { host: 'consent.truste.com' }],
    elements: ['#truste-consent-track', '#truste-show-consent'],
    leftovers: ['#teconsent', '#consent_blackbar'],
    setsConsentMode: true,
  },
  {
    id: 'inmobi',
    name: 'InMobi Choice (Quantcast)',
    aliases: ['quantcast', 'inmobichoice', 'inmobicmp', 'quantcastchoice'],
    urls: [
      { host: 'cmp.inmobi.com' },
      { host: 'cmp.quantcast.com' },
      { host: 'quantcast.mgr.consensu.org' },
      { host: '*.mgr.consensu.org', path: /\/choice(\.js|\/)/ },
    ],
    elements: ['#qc-cmp2-container'],
    setsConsentMode: true,
  },
  {
    id: 'sourcepoint',
    name: 'Sourcepoint',
    urls: [
      { host: '*.privacy-mgmt.com' },
      { host: 'sourcepoint.mgr.consensu.org' },
      { path: /\/(wrapperMessagingWithoutDetection|wrapper\/v2\/messaging)\.js$/ },
    ],
    setup: ['_sp_'],
    setsConsentMode: true,
  },
  {
    id: 'commanders-act',
    name: 'Commanders Act TrustCommander',
    aliases: ['trustcommander', 'tagcommander'],
    urls: [
      { host: 'cdn.trustcommander.net', path: /^\/privacy/ },
      { host: 'cdn.tagcommander.com', path: /^\/privacy/ },
      { path: /\/privacy_v2_\d+\.js$/ },
    ],
    elements: ['#tc-privacy-wrapper'],
    leftovers: ['#footer_tc_privacy'],
    setsConsentMode: true,
  },
  {
    id: 'osano',
    name: 'Osano',
    urls: [{ host: 'cmp.osano.com' }],
    setsConsentMode: true,
  },
  {
    id: 'cookieconsent',
    name: 'Cookie Consent (open source)',
    aliases: ['osanocookieconsent', 'insitescookieconsent', 'orestbida', 'vanillacookieconsent'],
    urls: [{ path: isCookieConsent, ends: '.js' }],
  },
  {
    id: 'termly',
    name: 'Termly',
    // Their other scripts embed policies.
    urls: [{ host: 'app.termly.io', path: /^\/(resource-blocker\/|embed(\.min)?\.js)/ }],
    leftovers: ['#termly-code-snippet-support'],
    setsConsentMode: true,
  },
  {
    id: 'cookiefirst',
    name: 'CookieFirst',
    urls: [{ host: 'consent.cookiefirst.com' }],
    elements: ['#cookiefirst-root'],
    setsConsentMode: true,
  },
  {
    id: 'klaro',
    name: 'Klaro',
    aliases: ['kiprotect'],
    urls: [
      { host: 'cdn.kiprotect.com', path: /^\/klaro\// },
      { path: /\/klaro(-no-css|-no-translations)*(\.min)?\.js$/ },
    ],
    setup: ['klaroConfig'],
    elements: ['#klaro', '[data-klaro-config]'],
  },
  {
    id: 'consentmanager',
    name: 'consentmanager',
    urls: [{ host: '*.consentmanager.net' }, { host: 'consentmanager.mgr.consensu.org' }],
    elements: ['[data-cmp-host]', '[data-cmp-cdn]', '#cmpbox'],
    setsConsentMode: true,
  },
  {
    id: 'cookie-script',
    name: 'CookieScript',
    urls: [{ host: '*.cookie-script.com' }],
    setsConsentMode: true,
  },
  {
    id: 'cookiehub',
    name: 'CookieHub',
    urls: [{ host: '*.cookiehub.net' }, { host: 'cdn.cookiehub.eu' }, { host: 'dash.cookiehub.com' }],
    setsConsentMode: true,
  },
  {
    id: 'civic',
    name: 'Civic Cookie Control',
    aliases: ['civiccookiecontrol', 'cookiecontrol', 'civicuk'],
    urls: [{ host: 'cc.cdn.civiccomputing.com' }],
    setup: ['CookieControl'],
  },
  {
    id: 'cookie-information',
    name: 'Cookie Information',
    urls: [{ host: 'policy.app.cookieinformation.com' }, { host: 'policy.cookieinformation.com' }],
    setsConsentMode: true,
  },
  {
    id: 'sirdata',
    name: 'Sirdata',
    aliases: ['abconsent'],
    urls: [{ host: 'choices.consentframework.com' }, { host: 'cache.consentframework.com' }],
    setup: ['Sddan'],
    setsConsentMode: true,
  },
  {
    id: 'google-funding-choices',
    name: 'Google Funding Choices',
    aliases: ['fundingchoices', 'google', 'googleprivacyandmessaging', 'googlecmp'],
    urls: [{ host: 'fundingchoicesmessages.google.com' }],
    setup: ['googlefcPresent'],
    elements: ['.fc-consent-root'],
    setsConsentMode: true,
    isCompanion: true,
  },
  {
    id: 'tarteaucitron',
    name: 'tarteaucitron',
    urls: [{ host: 'tarteaucitron.io' }, { path: /\/tarteaucitron(\.min)?\.js$/ }],
    setup: ['tarteaucitron'],
    elements: ['#tarteaucitronRoot'],
    setsConsentMode: true,
  },
  {
    id: 'borlabs',
    name: 'Borlabs Cookie',
    aliases: ['borlabscookie'],
    urls: [{ path: /\/(plugins|cache)\/borlabs-cookie\//, ends: '.js' }],
    elements: [
      '#BorlabsCookieBox',
      '#BorlabsCookieBoxWrap',
      '#borlabs-cookie-js',
      '[data-borlabs-cookie-script-blocker-id]',
    ],
    setsConsentMode: true,
  },
  {
    id: 'ketch',
    name: 'Ketch',
    urls: [{ host: '*.ketchcdn.com' }],
    elements: ['#lanyard_root'],
    setsConsentMode: true,
  },
  {
    id: 'transcend',
    name: 'Transcend',
    urls: [{ host: '*.transcend-cdn.com', path: /\/airgap\.js$/ }, { path: /\/airgap\.js$/ }],
    setsConsentMode: true,
  },
  {
    id: 'truendo',
    name: 'TRUENDO',
    urls: [{ host: 'cdn.priv.center' }],
    elements: ['#truendoAutoBlock'],
    leftovers: ['#truendoPrivacyPanel'],
    setsConsentMode: true,
  },
]

/** Matches `cookieconsent.min.js`, or such a file somewhere below `cookieconsent/` or `cookieconsent@3.1.0/`. */
function isCookieConsent(path: string): boolean {
  const folders = path.split('/')
  const file = folders.pop() ?? ''
  if (!/^[\w.-]+$/.test(file)) return false
  if (/^cookieconsent\.(cookieconsent|min|umd|esm)/.test(file)) return true
  if (folders.some((name) => name.startsWith('cookieconsent@'))) return /(^|\.)(cookieconsent|min|umd|esm)/.test(file)
  return folders.includes('cookieconsent') && /^(cookieconsent|min|umd|esm)/.test(file)
}
