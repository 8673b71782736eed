import type { Migration } from './types.ts'

/**
 * What events and tags say beside their outcomes. Tables of their own: whoever sends none of it pays for none of it. Columns that a
 * later step adds need a default, as nodes of the version before keep writing.
 */
export const consentSignals: Migration = {
  name: '0022-consent-signals',
  statements: ({ integer, counter, clustered }) => [
    `create table signal_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      event_name text not null,
      consent_total ${counter} not null,
      ad_storage_granted ${counter} not null,
      ad_storage_denied ${counter} not null,
      analytics_storage_granted ${counter} not null,
      analytics_storage_denied ${counter} not null,
      ad_user_data_granted ${counter} not null,
      ad_user_data_denied ${counter} not null,
      ad_personalization_granted ${counter} not null,
      ad_personalization_denied ${counter} not null,
      update_known ${counter} not null,
      never_updated ${counter} not null,
      dma ${counter} not null,
      primary key (site_no, grain, bucket, container_id, event_name)
    ) ${clustered}`,
    `create table tag_signal_rollups (
      site_no ${integer} not null,
      grain ${integer} not null,
      bucket ${integer} not null,
      container_id text not null,
      tag_key text not null,
      consent_total ${counter} not null,
      ad_storage_denied ${counter} not null,
      analytics_storage_denied ${counter} not null,
      primary key (site_no, grain, bucket, container_id, tag_key)
    ) ${clustered}`,
  ],
}
