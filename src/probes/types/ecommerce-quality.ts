import { ecommerceScore } from '../../analytics/index.ts'
import { ecommerceQuality as judgeEcommerce } from '../../detection/index.ts'
import { defineProbeType } from '../probe-type.ts'
import { checkQualitySettings, judgeQuality, QualitySettings } from './counts/judge-quality.ts'
import { ecommerceFields } from './counts/presence-counts.ts'

export const ecommerceQuality = defineProbeType({
  name: 'ecommerce_quality',
  title: 'E-commerce data quality',
  description:
    'Whether each kind of event carries e-commerce data as often as it used to; its score, where a bound is set.',
  kind: 'data',
  siteFields: [],
  needs: [],
  config: QualitySettings,
  checkConfig: checkQualitySettings,
  defaultIntervalSeconds: 300,
  run: (context) =>
    judgeQuality(context, {
      what: 'e-commerce data',
      fields: ['value', 'currency', 'transaction_id', 'items'],
      fieldsOf: ecommerceFields,
      score: ecommerceScore,
      judge: judgeEcommerce,
    }),
})
