<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko">
  <context>
    <name>Models</name>
    <message>
      <source>Quick on any computer; good for clear speech in the larger languages.</source>
      <translation>어떤 컴퓨터에서도 빠르며, 널리 쓰이는 언어의 또렷한 말에 좋습니다.</translation>
    </message>
    <message>
      <source>The smallest: English only, for very slow computers.</source>
      <translation>가장 작은 모델. 영어 전용이며 아주 느린 컴퓨터에 알맞습니다.</translation>
    </message>
    <message>
      <source>The quickest that knows many languages; expect mistakes.</source>
      <translation>여러 언어를 아는 모델 가운데 가장 빠르지만 틀리는 곳이 많습니다.</translation>
    </message>
    <message>
      <source>As quick as base and a little better, in English only.</source>
      <translation>base만큼 빠르고 조금 더 정확합니다. 영어 전용.</translation>
    </message>
    <message>
      <source>Clearly better than base, a few times slower.</source>
      <translation>base보다 훨씬 정확하지만 몇 배 느립니다.</translation>
    </message>
    <message>
      <source>Small for English only.</source>
      <translation>영어 전용 small 모델.</translation>
    </message>
    <message>
      <source>Accurate and slow; turbo is as good and much quicker.</source>
      <translation>정확하지만 느립니다. turbo가 비슷하게 정확하고 훨씬 빠릅니다.</translation>
    </message>
    <message>
      <source>Medium for English only.</source>
      <translation>영어 전용 medium 모델.</translation>
    </message>
    <message>
      <source>Very accurate; wants a graphics card or patience.</source>
      <translation>매우 정확하지만 그래픽 카드나 인내심이 필요합니다.</translation>
    </message>
    <message>
      <source>The most accurate Whisper; wants a graphics card or patience.</source>
      <translation>가장 정확한 Whisper. 그래픽 카드나 인내심이 필요합니다.</translation>
    </message>
    <message>
      <source>Nearly as accurate as large-v3 and several times quicker; does not translate.</source>
      <translation>large-v3만큼 정확하면서 몇 배 빠릅니다. 번역은 하지 않습니다.</translation>
    </message>
    <message>
      <source>A quicker small, in English only.</source>
      <translation>더 빠른 small. 영어 전용.</translation>
    </message>
    <message>
      <source>A quicker medium, in English only.</source>
      <translation>더 빠른 medium. 영어 전용.</translation>
    </message>
    <message>
      <source>A quicker large-v3, in English only.</source>
      <translation>더 빠른 large-v3. 영어 전용.</translation>
    </message>
    <message>
      <source>The newest distilled large-v3, in English only.</source>
      <translation>가장 새로운 경량 large-v3. 영어 전용.</translation>
    </message>
    <message>
      <source>Strong in Chinese, Korean, Japanese and twenty-seven others.</source>
      <translation>중국어, 한국어, 일본어와 그 밖의 27개 언어에 강합니다.</translation>
    </message>
    <message>
      <source>The most accurate in thirty languages; wants a graphics card.</source>
      <translation>30개 언어에서 가장 정확합니다. 그래픽 카드가 필요합니다.</translation>
    </message>
    <message>
      <source>Helps Qwen3-ASR: measures when each word was said, where word times are asked for.</source>
      <translation>Qwen3-ASR을 도와, 단어 시각이 필요할 때 단어마다 말한 시각을 측정합니다.</translation>
    </message>
  </context>
</TS>
