import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOneService, VENDORS, vendorIdOf, vendorName, vendorOf } from '../../src/analytics/vendors.ts'

const TAGS: readonly (readonly [name: string, vendor: string | undefined])[] = [
  ['Meta CAPI', 'meta'],
  ['Meta CAPI · purchase', 'meta'],
  ['fb_capi_purchase', 'meta'],
  ['FacebookConversionsAPI', 'meta'],
  ['Facebook Conversion API - Lead', 'meta'],
  ['CAPI', 'meta'],
  ['metaCapiPurchase', 'meta'],
  ['LinkedIn CAPI', 'linkedin'],
  ['Reddit CAPI – purchase', 'reddit'],
  ['Snapchat CAPI', 'snapchat'],
  ['Pinterest Conversions API', 'pinterest'],
  ['TikTok Events API', 'tiktok'],
  ['tiktok-purchase', 'tiktok'],
  ['GA4', 'google_analytics'],
  ['GA4Purchase', 'google_analytics'],
  ['ga4_purchase', 'google_analytics'],
  ['Google Analytics: GA4', 'google_analytics'],
  ['Google Ads Conversion Tracking', 'google_ads'],
  ['gads conversion', 'google_ads'],
  ['Floodlight Counter', 'floodlight'],
  ['CM360 sales', 'floodlight'],
  ['SA360', 'search_ads_360'],
  ['Microsoft UET CAPI', 'microsoft_ads'],
  ['Bing Ads', 'microsoft_ads'],
  ['Twitter Conversions', 'x'],
  ['X Pixel', 'x'],
  ['Criteo Events', 'criteo'],
  ['Klaviyo add to cart', 'klaviyo'],
  ['AWIN MasterTag', 'awin'],
  ['Amazon Ads CAPI', 'amazon_ads'],
  ['Taboola S2S', 'taboola'],
  ['Outbrain', 'outbrain'],
  ['Quora Conversion API', 'quora'],
  ['Spotify', 'spotify'],
  ['Stape Store Writer', 'stape'],
  ['Write to BigQuery', 'bigquery'],
  ['Firestore writer', 'firestore'],
  ['Firebase', 'firebase'],
  ['Matomo', 'matomo'],
  ['Piano Analytics', 'piano'],
  ['Adobe Analytics', 'adobe'],
  ['Mixpanel', 'mixpanel'],
  ['Amplitude HTTP API', 'amplitude'],
  ['Segment', 'segment'],
  ['HubSpot Form', 'hubspot'],
  ['Salesforce SFMC', 'salesforce'],
  ['ActiveCampaign', 'activecampaign'],
  ['Mailchimp', 'mailchimp'],
  ['Braze', 'braze'],
  ['RudderStack', 'rudderstack'],
  ['Snowplow Forwarder', 'snowplow'],
  ['Sklik retargeting', 'sklik'],
  ['Zboží.cz', 'zbozi'],
  ['Heureka – ověřeno', 'heureka'],
  ['Yandex Metrica', 'yandex'],
  ['VK Ads', 'vk'],
  ['impact.com', 'impact'],
  ['Partnerize', 'partnerize'],
  ['Rakuten', 'rakuten'],
  ['CJ Affiliate', 'cj'],
  ['JSON HTTP request', 'webhook'],
  ['Webhook to CRM', 'webhook'],
  ['Cookie extender', undefined],
  ['metadata writer', undefined],
  ['gallery', undefined],
  ['High impact banner', undefined],
  ['', undefined],
]

for (const [name, vendor] of TAGS) {
  test(`a tag called “${name}” is ${vendor === undefined ? "no vendor's that is known" : `one of ${vendorName(vendor)}`}`, () => {
    assert.equal(vendorOf(name)?.id, vendor)
  })
}

test('every vendor has an id of its own and is found by each of its words', () => {
  assert.ok(VENDORS.length >= 40)
  assert.equal(new Set(VENDORS.map(({ id }) => id)).size, VENDORS.length)
  for (const { id, words } of VENDORS) for (const word of words) assert.equal(vendorOf(word)?.id, id, word)
})

test('two webhooks lead to two services', () => {
  assert.deepEqual([isOneService('webhook'), isOneService('meta')], [false, true])
})

test('a vendor is found by its id or name in any case, and by nothing else', () => {
  assert.deepEqual(['meta', ' META ', 'Google Ads', 'google_ads', 'Meta CAPI', ''].map(vendorIdOf), [
    'meta',
    'meta',
    'google_ads',
    'google_ads',
    undefined,
    undefined,
  ])
})
