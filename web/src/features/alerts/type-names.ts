/** Titles of types that cannot be derived from the name. Alerts have only the name, while pages show the title. */
const TITLES: Readonly<Record<string, string>> = {
  cmp_check: 'Consent platform',
  container_lag: 'Container versions',
  ecommerce_quality: 'E-commerce data quality',
  field_contract: 'Custom parameters',
  ga4_counts: 'Counts from GA4',
  http_health: 'Tag server health',
  identifier_quality: 'Identifiers',
  image_version: 'Tag server image',
  meta_quality: 'Meta data quality',
  reconciliation: 'Comparison with the shop',
  tag_failure_rate: 'Tag failures',
  tag_manager_version: 'Tag Manager version',
  tag_missing: 'Missing tags',
  tag_server_infra: 'Tag server infrastructure',
  value_quality: 'Values',
  vendor_status: 'Vendor responses',
  warehouse_events: 'Events in the warehouse',
}

/** The type of a probe as its page calls it: "Tag failures" of `tag_failure_rate`. */
export function typeName(probeType: string): string {
  const words = probeType.replaceAll('_', ' ')
  return TITLES[probeType] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
