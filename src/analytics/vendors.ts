/** A service that tags send to. */
export interface Vendor {
  id: string
  /** As messages name it. */
  name: string
  /** Words for it in tags' names, in lower case; the words of a phrase have to follow one another. */
  words: readonly string[]
  /** Whether it is a way of sending with a different address for each tag, so that two such tags share no fault. */
  isManyServices?: boolean
}

/**
 * Vendors by what people call their tags. The first match counts, so a vendor whose words are part of another's comes after it:
 * `CAPI` alone is Meta's only where no other vendor's name is beside it.
 */
export const VENDORS: readonly Vendor[] = [
  { id: 'stape', name: 'Stape Store', words: ['stape', 'stape store'] },
  { id: 'bigquery', name: 'BigQuery', words: ['bigquery', 'big query', 'bq'] },
  { id: 'firestore', name: 'Firestore', words: ['firestore'] },
  { id: 'firebase', name: 'Firebase', words: ['firebase'] },
  { id: 'google_sheets', name: 'Google Sheets', words: ['google sheets', 'google sheet', 'gsheets'] },
  {
    id: 'floodlight',
    name: 'Floodlight',
    words: ['floodlight', 'campaign manager', 'cm360', 'dv360', 'doubleclick', 'dcm'],
  },
  { id: 'search_ads_360', name: 'Search Ads 360', words: ['search ads 360', 'sa360'] },
  {
    id: 'google_ads',
    name: 'Google Ads',
    words: ['google ads', 'googleads', 'adwords', 'gads', 'gads conversion', 'ads conversion', 'ads remarketing'],
  },
  {
    id: 'google_analytics',
    name: 'Google Analytics',
    words: ['ga4', 'ga 4', 'ga', 'google analytics', 'universal analytics', 'measurement protocol'],
  },
  { id: 'tiktok', name: 'TikTok', words: ['tiktok', 'tik tok', 'tt events', 'ttq'] },
  { id: 'pinterest', name: 'Pinterest', words: ['pinterest', 'pin capi'] },
  { id: 'snapchat', name: 'Snapchat', words: ['snapchat', 'snap', 'snap capi'] },
  { id: 'linkedin', name: 'LinkedIn', words: ['linkedin', 'linked in', 'li capi'] },
  {
    id: 'microsoft_ads',
    name: 'Microsoft Advertising',
    words: ['bing', 'uet', 'microsoft ads', 'microsoft advertising'],
  },
  { id: 'clarity', name: 'Microsoft Clarity', words: ['clarity'] },
  { id: 'x', name: 'X', words: ['twitter', 'x ads', 'x pixel', 'x capi', 'x conversion', 'x conversions'] },
  { id: 'reddit', name: 'Reddit', words: ['reddit'] },
  { id: 'quora', name: 'Quora', words: ['quora'] },
  { id: 'spotify', name: 'Spotify', words: ['spotify', 'podsights'] },
  { id: 'criteo', name: 'Criteo', words: ['criteo'] },
  { id: 'rtb_house', name: 'RTB House', words: ['rtb house', 'rtbhouse'] },
  { id: 'adform', name: 'Adform', words: ['adform'] },
  { id: 'trade_desk', name: 'The Trade Desk', words: ['trade desk', 'tradedesk', 'ttd'] },
  { id: 'taboola', name: 'Taboola', words: ['taboola'] },
  { id: 'outbrain', name: 'Outbrain', words: ['outbrain'] },
  { id: 'amazon_ads', name: 'Amazon Ads', words: ['amazon', 'amazon ads', 'amzn'] },
  { id: 'yahoo', name: 'Yahoo', words: ['yahoo'] },
  { id: 'yandex', name: 'Yandex', words: ['yandex', 'metrica', 'metrika'] },
  { id: 'vk', name: 'VK', words: ['vk', 'vkontakte', 'vk ads'] },
  { id: 'sklik', name: 'Sklik', words: ['sklik', 'seznam'] },
  { id: 'zbozi', name: 'Zboží.cz', words: ['zbozi', 'zboží'] },
  { id: 'heureka', name: 'Heureka', words: ['heureka'] },
  { id: 'kakao', name: 'Kakao', words: ['kakao'] },
  { id: 'naver', name: 'Naver', words: ['naver'] },
  { id: 'line', name: 'LINE', words: ['line tag', 'line ads', 'line capi'] },
  { id: 'awin', name: 'Awin', words: ['awin', 'affiliate window', 'zanox'] },
  { id: 'impact', name: 'impact.com', words: ['impact com', 'impact radius', 'impactradius', 'impact conversion'] },
  { id: 'partnerize', name: 'Partnerize', words: ['partnerize', 'performance horizon'] },
  { id: 'rakuten', name: 'Rakuten', words: ['rakuten', 'linkshare'] },
  { id: 'cj', name: 'CJ', words: ['cj', 'commission junction', 'cj affiliate'] },
  { id: 'tradedoubler', name: 'Tradedoubler', words: ['tradedoubler'] },
  { id: 'tradetracker', name: 'TradeTracker', words: ['tradetracker', 'trade tracker'] },
  { id: 'klaviyo', name: 'Klaviyo', words: ['klaviyo'] },
  { id: 'hubspot', name: 'HubSpot', words: ['hubspot', 'hub spot'] },
  { id: 'salesforce', name: 'Salesforce', words: ['salesforce', 'sfmc', 'pardot'] },
  { id: 'activecampaign', name: 'ActiveCampaign', words: ['activecampaign', 'active campaign'] },
  { id: 'mailchimp', name: 'Mailchimp', words: ['mailchimp'] },
  { id: 'brevo', name: 'Brevo', words: ['brevo', 'sendinblue'] },
  { id: 'braze', name: 'Braze', words: ['braze', 'appboy'] },
  { id: 'customer_io', name: 'Customer.io', words: ['customer io', 'customerio'] },
  { id: 'iterable', name: 'Iterable', words: ['iterable'] },
  { id: 'bloomreach', name: 'Bloomreach', words: ['bloomreach', 'exponea'] },
  { id: 'emarsys', name: 'Emarsys', words: ['emarsys'] },
  { id: 'mixpanel', name: 'Mixpanel', words: ['mixpanel'] },
  { id: 'amplitude', name: 'Amplitude', words: ['amplitude'] },
  { id: 'posthog', name: 'PostHog', words: ['posthog'] },
  { id: 'segment', name: 'Segment', words: ['segment'] },
  { id: 'rudderstack', name: 'RudderStack', words: ['rudderstack', 'rudder stack'] },
  { id: 'snowplow', name: 'Snowplow', words: ['snowplow'] },
  { id: 'tealium', name: 'Tealium', words: ['tealium'] },
  { id: 'matomo', name: 'Matomo', words: ['matomo', 'piwik'] },
  { id: 'piano', name: 'Piano Analytics', words: ['piano', 'at internet', 'atinternet'] },
  { id: 'adobe', name: 'Adobe', words: ['adobe', 'omniture', 'aep'] },
  { id: 'plausible', name: 'Plausible', words: ['plausible'] },
  { id: 'hotjar', name: 'Hotjar', words: ['hotjar'] },
  { id: 'trustpilot', name: 'Trustpilot', words: ['trustpilot'] },
  { id: 'slack', name: 'Slack', words: ['slack'] },
  {
    id: 'meta',
    name: 'Meta',
    words: ['meta', 'facebook', 'fb', 'fbq', 'instagram', 'conversions api', 'capi'],
  },
  {
    id: 'webhook',
    name: 'a webhook',
    words: ['webhook', 'http request', 'json request', 'http'],
    isManyServices: true,
  },
]

const BY_WORDS = VENDORS.map((vendor) => ({ vendor, phrases: vendor.words.map((phrase) => ` ${phrase} `) }))
const BY_ID = new Map(VENDORS.map((vendor) => [vendor.id, vendor]))

/**
 * The vendor of a tag, by its name or type; undefined when neither tells. Names are read as words, whatever separates them: `Meta
 * CAPI · purchase`, `fb_capi_purchase`, `metaCapiPurchase`.
 */
export function vendorOf(name: string): Vendor | undefined {
  const whole = asWords(name)
  const parted = asWords(name.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2'))
  return BY_WORDS.find(({ phrases }) => phrases.some((phrase) => whole.includes(phrase) || parted.includes(phrase)))
    ?.vendor
}

const asWords = (name: string): string =>
  ` ${name
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .join(' ')} `

/** The id of the vendor with this id or name, ignoring case. */
export function vendorIdOf(text: string): string | undefined {
  const wanted = text.trim().toLowerCase()
  return VENDORS.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)?.id
}

/** The name for people; the id itself where people named an unknown vendor, or a later version wrote it. */
export const vendorName = (id: string): string => BY_ID.get(id)?.name ?? id

/** Whether two of its tags share faults. */
export const isOneService = (id: string): boolean => BY_ID.get(id)?.isManyServices !== true
