/** The snippets that providers have their customers put into a page, as found on public sites; keys and ids are made up. */
export const SNIPPETS: Readonly<Record<string, readonly string[]>> = {
  cookiebot: [
    '<script id="Cookiebot" src="https://consent.cookiebot.com/uc.js" data-cbid="00000000-1111-2222-3333-444444444444" data-blockingmode="auto" type="text/javascript"></script>',
  ],
  onetrust: [
    `<script src="https://cdn.cookielaw.org/scripttemplates/otSDKStub.js" type="text/javascript" charset="UTF-8" data-domain-script="01900000-aaaa-bbbb-cccc-dddddddddddd"></script>
     <script type="text/javascript">function OptanonWrapper() { }</script>`,
    '<script src="/assets/otSDKStub.js" data-domain-script="01900000-aaaa-bbbb-cccc-dddddddddddd"></script>',
  ],
  usercentrics: [
    '<script id="usercentrics-cmp" src="https://web.cmp.usercentrics.eu/ui/loader.js" data-settings-id="AbCdEfGhI" async></script>',
    '<script id="usercentrics-cmp" async data-eu-mode="true" data-settings-id="AbCdEfGhI" src="https://app.eu.usercentrics.eu/browser-ui/latest/loader.js"></script>',
  ],
  didomi: [
    `<script type="text/javascript">window.didomiConfig={};(function(e){var t=document.createElement("script");t.id="spcloader";t.type="text/javascript";t.async=true;
     t.src="https://sdk.privacy-center.org/"+e+"/loader.js?target="+document.location.hostname;t.charset="utf-8";var n=document.getElementsByTagName("script")[0];
     n.parentNode.insertBefore(t,n)})("95a18600-0000-0000-0000-15203e580e57")</script>`,
  ],
  axeptio: [
    `<script>window.axeptioSettings = { clientId: "000000000000000000000000", cookiesVersion: "shop-fr" };
     (function(d, s) { var t = d.getElementsByTagName(s)[0], e = d.createElement(s); e.async = true; e.src = "//static.axept.io/sdk.js";
     t.parentNode.insertBefore(e, t); })(document, "script");</script>`,
  ],
  iubenda: [
    `<script type="text/javascript">var _iub = _iub || []; _iub.csConfiguration = {"siteId":1000000,"cookiePolicyId":10000000,"lang":"it"};</script>
     <script type="text/javascript" src="https://cs.iubenda.com/autoblocking/1000000.js"></script>
     <script type="text/javascript" src="//cdn.iubenda.com/cs/iubenda_cs.js" charset="UTF-8" async></script>`,
  ],
  cookieyes: [
    '<script id="cookieyes" type="text/javascript" src="https://cdn-cookieyes.com/client_data/6d8982d0ad7808769861e5cb/script.js"></script>',
    "<script src='https://shop.example/wp-content/plugins/cookie-law-info/lite/frontend/js/script.min.js?ver=3.2.0' id='cookie-law-info-js'></script>",
  ],
  complianz: [
    "<script defer src='https://shop.example/wp-content/plugins/complianz-gdpr/cookiebanner/js/complianz.min.js?ver=1714471607' id='cmplz-cookiebanner-js'></script>",
    `<script type="rocketlazyloadscript" data-rocket-src="/wp-content/plugins/complianz-gdpr-premium/cookiebanner/js/complianz.min.js" defer></script>`,
  ],
  trustarc: [
    `<div id="consent_blackbar"></div><div id="teconsent"></div>
     <script async="async" src="https://consent.trustarc.com/notice?domain=shop.example&c=teconsent&js=nj&noticeType=bb&gtm=1" crossorigin></script>`,
  ],
  inmobi: [
    `<script type="text/javascript" async=true>(function() { var host = window.location.hostname; var element = document.createElement('script');
     var firstScript = document.getElementsByTagName('script')[0]; var url = 'https://cmp.inmobi.com'.concat('/choice/', '6Fv0cGNfc_bw8', '/', host, '/choice.js?tag_version=V3');
     element.async = true; element.src = url; firstScript.parentNode.insertBefore(element, firstScript);
     function makeStub() { var TCF_LOCATOR_NAME = '__tcfapiLocator'; } makeStub(); })();</script>`,
  ],
  sourcepoint: [
    `<script>window._sp_queue = []; window._sp_ = { config: { accountId: 22, baseEndpoint: 'https://cdn.privacy-mgmt.com', propertyHref: 'https://shop.example', gdpr: { } } }</script>
     <script async src="https://cdn.privacy-mgmt.com/unified/wrapperMessagingWithoutDetection.js"></script>`,
    '<script src="https://cmp.shop.example/unified/wrapperMessagingWithoutDetection.js"></script>',
  ],
  'commanders-act': [
    '<script type="text/javascript" src="https://cdn.trustcommander.net/privacy/3466/privacy_v2_23.js"></script>',
    `<script>var s = document.createElement("script"); s.id = "tagcommander-script"; s.src = "https://cdn.trustcommander.net/privacy/7797/privacy_v2_1.js"; document.head.appendChild(s);</script>`,
  ],
  osano: ['<script src="https://cmp.osano.com/16A0BCDEF/00000000-1111-2222-3333-444444444444/osano.js"></script>'],
  cookieconsent: [
    '<script src="https://cdn.jsdelivr.net/npm/cookieconsent@3/build/cookieconsent.min.js" data-cfasync="false"></script>',
    '<script defer src="https://cdn.jsdelivr.net/gh/orestbida/cookieconsent@3.0.1/dist/cookieconsent.umd.js"></script>',
    '<script src="//cdnjs.cloudflare.com/ajax/libs/cookieconsent2/3.1.1/cookieconsent.min.js"></script>',
  ],
  termly: [
    '<script type="text/javascript" src="https://app.termly.io/resource-blocker/00000000-1111-2222-3333-444444444444?autoBlock=on"></script>',
    '<script src="https://app.termly.io/embed.min.js" data-auto-block="on" data-website-uuid="00000000-1111-2222-3333-444444444444"></script>',
  ],
  cookiefirst: [
    '<script src="https://consent.cookiefirst.com/sites/shop.example-00000000-1111-2222-3333-444444444444/consent.js"></script>',
  ],
  klaro: [
    '<script defer type="application/javascript" src="/js/klaro-config.js"></script><script defer data-config="klaroConfig" type="application/javascript" src="https://cdn.kiprotect.com/klaro/v0.7/klaro.js"></script>',
    '<script>var klaroConfig = { elementID: "klaro", apps: [] };</script><script src="/static/klaro-no-css.js"></script>',
  ],
  consentmanager: [
    '<script type="text/javascript" data-cmp-ab="1" src="https://cdn.consentmanager.net/delivery/autoblocking/5add6cdca2e35.js" data-cmp-host="b.delivery.consentmanager.net" data-cmp-cdn="cdn.consentmanager.net" data-cmp-codesrc="16"></script>',
  ],
  'cookie-script': [
    '<script type="text/javascript" charset="UTF-8" src="//cdn.cookie-script.com/s/9fced4c10cbfbd52782b9a352f8dfab5.js"></script>',
  ],
  cookiehub: [
    `<script>var cpm = {}; (function(h,u,b){ var d=h.getElementsByTagName("script")[0],e=h.createElement("script"); e.async=true;
     e.src='https://cookiehub.net/c2/c7e96adf.js'; e.onload=function(){u.cookiehub.load(b);} d.parentNode.insertBefore(e,d); })(document,window,cpm);</script>`,
  ],
  civic: [
    `<script src="//cc.cdn.civiccomputing.com/9/cookieControl-9.x.min.js" type="text/javascript"></script>
     <script>var config = { apiKey: '0000', product: 'community', optionalCookies: [] }; CookieControl.load(config);</script>`,
  ],
  'cookie-information': [
    '<script id="CookieConsent" src="https://policy.app.cookieinformation.com/uc.js" data-culture="EN" data-gcm-version="2.0" type="text/javascript"></script>',
  ],
  sirdata: [
    `<script type="text/javascript" src="https://cache.consentframework.com/js/pa/37783/c/UZKH3/stub" referrerpolicy="unsafe-url" charset="utf-8"></script>
     <script type="text/javascript" src="https://choices.consentframework.com/js/pa/37783/c/UZKH3/cmp" charset="utf-8" async></script>`,
  ],
  'google-funding-choices': [
    `<script async src="https://fundingchoicesmessages.google.com/i/pub-0000000000000000?ers=1" nonce="7wPWdbU4"></script>
     <script nonce="7wPWdbU4">(function() {function signalGooglefcPresent() {if (!window.frames['googlefcPresent']) {} }signalGooglefcPresent();})();</script>`,
  ],
  tarteaucitron: [
    `<script type="text/javascript" src="/tarteaucitron/tarteaucitron.js"></script>
     <script type="text/javascript">tarteaucitron.init({ "privacyUrl": "", "hashtag": "#tarteaucitron", "cookieName": "tarteaucitron" });</script>`,
  ],
  borlabs: [
    `<script src='https://shop.example/wp-content/plugins/borlabs-cookie/assets/javascript/borlabs-cookie.min.js?ver=2.2.67' id='borlabs-cookie-js'></script>
     <div data-nosnippet><script id="BorlabsCookieBoxWrap" type="text/template"><div id="BorlabsCookieBox"></div></script></div>`,
  ],
  ketch: [
    '<script type="text/javascript" src="https://global.ketchcdn.com/web/v3/config/shop/web/boot.js" async defer></script>',
  ],
  transcend: [
    '<script data-cfasync="false" src="https://transcend-cdn.com/cm/63b35d96-a6db-436f-a1cf-ea93ae4be24e/airgap.js"></script>',
  ],
  truendo: [
    '<script id="truendoAutoBlock" type="text/javascript" src="https://cdn.priv.center/pc/truendo_cmp.pid.js" data-siteid="00000000-1111-2222-3333-444444444444"></script>',
  ],
}

export const CONSENT_DEFAULT = `<script>
window.dataLayer = window.dataLayer || [];
function gtag(){dataLayer.push(arguments);}
gtag('consent', 'default', {
  'ad_storage': 'denied',
  'ad_user_data': 'denied',
  'ad_personalization': 'denied',
  'analytics_storage': 'denied',
  'wait_for_update': 500
});
</script>`

export const CONTAINER_SNIPPET = `<!-- Google Tag Manager -->
<script>(function(w,d,s,l,i){w[l]=w[l]||[];w[l].push({'gtm.start':
new Date().getTime(),event:'gtm.js'});var f=d.getElementsByTagName(s)[0],
j=d.createElement(s),dl=l!='dataLayer'?'&l='+l:'';j.async=true;j.src=
'https://www.googletagmanager.com/gtm.js?id='+i+dl;f.parentNode.insertBefore(j,f);
})(window,document,'script','dataLayer','GTM-ABC1234');</script>
<!-- End Google Tag Manager -->`

/** A shop's page with these parts in its head, in their order. */
export const pageWith = (...head: string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Shop &amp; more</title>
${head.join('\n')}
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Store","url":"https://shop.example/"}</script>
</head>
<body>
<noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-ABC1234" height="0" width="0"></iframe></noscript>
<a href="https://www.cookiebot.com/">We have nothing to do with Cookiebot, onetrust.com or iubenda.com</a>
<a href="https://www.iubenda.com/privacy-policy/1000000" class="iubenda-white iubenda-embed">Privacy Policy</a>
<script src="https://cdn.iubenda.com/iubenda.js"></script>
<script>window.addEventListener('load', function () { if (window.Cookiebot && window.Cookiebot.consent) { start() } })</script>
</body>
</html>`

/** `gtm.js` of a container whose tags are these. */
export const containerScript = (tags: string, more = ''): string => `
// Copyright 2012 Google Inc. All rights reserved.
(function(){
var data = {
"resource": {
  "version":"42",
  "macros":[{"function":"__e"}],
  "tags":[${tags}],
  "predicates":[],
  "rules":[]
},
"runtime":[ ${more} ]
};
var aa,ba=function(a){};wH.O="setDefaultConsentState";Z.securityGroups.access_consent=["google"];Z.__access_consent.F="access_consent";
})()`
