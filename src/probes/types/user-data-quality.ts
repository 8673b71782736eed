import { userDataScore } from '../../analytics/index.ts'
import { userDataQuality as judgeUserData } from '../../detection/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { checkQualitySettings, judgeQuality, QualitySettings } from './counts/judge-quality.ts'
import { userDataFields } from './counts/presence-counts.ts'

export const userDataQuality = defineProbeType({
  name: 'user_data_quality',
  title: 'User data quality',
  description: 'Whether events carry enough user data, by the score, and no field got lost.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: QualitySettings,
  checkConfig: checkQualitySettings,
  defaultIntervalSeconds: 300,
  run: (context) =>
    judgeQuality(context, {
      what: 'user data',
      fieldsOf: userDataFields,
      score: userDataScore,
      judge: judgeUserData,
    }),
})
