import type { SiteRecord } from '../api/sites.ts'

/** The fields of a site that describe its tracking; each is optional. */
export type TrackingField =
  | 'tag_server_url'
  | 'tag_manager_web_container_id'
  | 'tag_manager_server_container_id'
  | 'analytics_property_id'
  | 'analytics_measurement_id'
  | 'warehouse_project'
  | 'warehouse_dataset'
  | 'hosting_a_container_id'
  | 'hosting_b_container_id'
  | 'cmp_provider'
  | 'slo_target'

interface FieldWords {
  label: string
  /** What it is for, and where to find it. */
  description: string
  placeholder: string
}

export const TRACKING_FIELDS: Readonly<Record<TrackingField, FieldWords>> = {
  tag_server_url: {
    label: 'Tag server address',
    description: 'Where the server container answers: its health, certificate and DNS are watched',
    placeholder: 'https://sgtm.example.com',
  },
  tag_manager_web_container_id: {
    label: 'Web container',
    description: 'In Tag Manager, next to the container’s name: its published version is watched',
    placeholder: 'GTM-ABC1234',
  },
  tag_manager_server_container_id: {
    label: 'Server container',
    description: 'Needs a Google service account that may read it',
    placeholder: 'GTM-XYZ9876',
  },
  analytics_property_id: {
    label: 'Analytics property',
    description: 'The number under Admin, Property details: what GA4 counted can be compared',
    placeholder: '123456789',
  },
  analytics_measurement_id: {
    label: 'Measurement ID',
    description: 'Of the web data stream',
    placeholder: 'G-ABCD123456',
  },
  warehouse_project: {
    label: 'BigQuery project',
    description: 'That the analytics export goes to',
    placeholder: 'my-project-123',
  },
  warehouse_dataset: {
    label: 'BigQuery dataset',
    description: 'analytics_ and the number of the property',
    placeholder: 'analytics_123456789',
  },
  hosting_a_container_id: {
    label: 'Container at Stape',
    description: 'Its identifier there; needs HOSTING_A_TOKEN on the service',
    placeholder: 'abcdefgh',
  },
  hosting_b_container_id: {
    label: 'Container at another host',
    description: 'Put into HOSTING_B_STATUS_URL, where the service asks for its status',
    placeholder: 'container-1',
  },
  cmp_provider: {
    label: 'Consent platform',
    description: 'The provider’s name; without it any platform will do',
    placeholder: 'usercentrics',
  },
  slo_target: {
    label: 'Target',
    description: 'Per cent of the time without a critical problem, 50 to 99.99',
    placeholder: '99.5',
  },
}

const isTracking = (field: string): field is TrackingField => field in TRACKING_FIELDS

/** The label of a site's field. */
export const fieldLabel = (field: string): string => (isTracking(field) ? TRACKING_FIELDS[field].label : field)

/** The fields that the site lacks for each of a type's alternatives; empty when one alternative is complete. */
export function missingOf(needs: readonly (readonly string[])[], site: SiteRecord): TrackingField[][] {
  const isFilled = (field: string) => field in site && site[field as keyof SiteRecord] !== null
  if (needs.length === 0 || needs.some((fields) => fields.every(isFilled))) return []
  return needs.map((fields) => fields.filter(isTracking).filter((field) => !isFilled(field)))
}
