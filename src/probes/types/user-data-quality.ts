import { userDataScore } from '../../analytics/index.ts'
import { userDataQuality as judgeUserData } from '../../detection/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { checkQualitySettings, judgeQuality, QualitySettings } from './counts/judge-quality.ts'
import { userDataFields } from './counts/presence-counts.ts'

export const userDataQuality = defineProbeType({
  name: 'user_data_quality',
  title: 'User data quality',
  description: 'Whether each kind of event carries user data as often as it used to; its score, where a bound is set.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: QualitySettings,
  checkConfig: checkQualitySettings,
  defaultIntervalSeconds: 300,
  run: (context) =>
    judgeQuality(context, {
      what: 'user data',
      fields: ['email', 'phone', 'address', 'first_name', 'last_name', 'city', 'country'],
      fieldsOf: userDataFields,
      score: userDataScore,
      judge: judgeUserData,
    }),
})
