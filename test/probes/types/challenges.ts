/** What bot protections answer in place of a page, a tag server or a script. */
export const CHALLENGES: readonly [name: string, status: number, headers: Record<string, string>, body: string][] = [
  [
    'Cloudflare',
    403,
    {},
    '<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta name="robots" content="noindex,nofollow"></head><body><script>(function(){window._cf_chl_opt={cvId:"3"};var a=document.createElement("script");a.src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1";})();</script></body></html>',
  ],
  ['Cloudflare', 503, { 'cf-mitigated': 'challenge' }, 'x'],
  [
    'Imperva',
    200,
    {},
    '<html><head><META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=5074a744e2e3d891814e9a2dace20bd4"></script><body></body></html>',
  ],
  [
    'Imperva',
    200,
    {},
    '<html><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&incident_id=1">Request unsuccessful.</iframe></body></html>',
  ],
  [
    'DataDome',
    403,
    { 'x-datadome': 'protected' },
    '<html><head><title>shop.example</title></head><body><script>var dd={"rt":"c","host":"geo.captcha-delivery.com"}</script><script src="https://ct.captcha-delivery.com/c.js"></script></body></html>',
  ],
  [
    'HUMAN',
    403,
    {},
    "<html><head><title>Access to this page has been denied.</title></head><body><script>window._pxAppId = 'PX0000';</script></body></html>",
  ],
  [
    'AWS WAF',
    202,
    { 'x-amzn-waf-action': 'challenge' },
    '<html><head><script>window.gokuProps = {"key":"x"};</script><script src="https://00000000.eu-west-1.token.awswaf.com/00000000/challenge.js"></script></head></html>',
  ],
  [
    'Akamai',
    200,
    {},
    `<html><head><meta http-equiv="refresh" content="5; URL='/?bm-verify=AAQAAAAN'"/><title>&nbsp;</title></head><body><script>var i = 1785087938; go()</script></body></html>`,
  ],
  [
    'Akamai',
    428,
    {},
    '<html><body><div id="sec-if-cpt-container"><iframe src="/_sec/cp_challenge/ak-challenge-4-2.htm"></iframe></div></body></html>',
  ],
  [
    'SiteGround',
    202,
    {},
    '<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F&y=ipr:192.0.2.1:1761652138.711"></meta></head></html>',
  ],
  [
    'Sucuri',
    307,
    {},
    `<html><title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='cz0iMCI';</script></html>`,
  ],
]

/** What they add to real pages. */
export const ADDED_BY_PROTECTIONS: readonly [name: string, script: string][] = [
  [
    'Cloudflare',
    `<script>window.__CF$cv$params={r:'9c2e',t:'MTc2'};</script><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`,
  ],
  [
    'Imperva',
    '<script type="text/javascript" src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3&ns=2&cb=121104388" async></script>',
  ],
  [
    'HUMAN',
    `<script>(function(){window._pxAppId='PX00000000';var s=document.createElement('script');s.src='/00000000/init.js';document.head.append(s)}())</script>`,
  ],
  [
    'AWS WAF',
    '<script src="https://0123456789ab.edge.sdk.awswaf.com/0123456789ab/ba9876543210/challenge.js" defer></script>',
  ],
  [
    'Akamai',
    '<link rel="stylesheet" href="/_sec/cp_challenge/sec-4-4.css"><script src="/_sec/cp_challenge/sec-cpt-4-4.js" async defer></script><div id="sec-overlay" style="display:none;"></div>',
  ],
]
