import { Type } from 'typebox'
import { judgeVersions } from '../container-lag/judge.ts'
import { defineProbeType } from '../probe-type.ts'

export const containerLag = defineProbeType({
  name: 'container_lag',
  title: 'Container versions',
  description:
    'Which version of the server container events come from. Marks each change without needing an account, and finds instances that lag behind.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: Type.Object(
    {
      lag_minutes: Type.Integer({
        minimum: 5,
        maximum: 1_440,
        default: 60,
        description: 'Minutes that two versions may run side by side',
      }),
    },
    { additionalProperties: false },
  ),
  defaultIntervalSeconds: 300,
  async run({ site, config, memory, now, store }) {
    const rows = await store.read
      .selectFrom('container_versions')
      .select(['container_id', 'version', 'environment', 'first_seen_at', 'last_seen_at'])
      .where('site_no', '=', site.site_no)
      .orderBy('last_seen_at', 'desc')
      .limit(VERSIONS)
      .execute()
    return judgeVersions(rows, memory, config.lag_minutes, now)
  },
})

/** More versions than run at a time. */
const VERSIONS = 200
