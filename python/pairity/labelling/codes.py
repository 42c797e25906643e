"""From the codes of CLD2 to those of FLORES: "iw" in Hebrew script -> heb_Hebr.

CLD2 has two-letter codes, which often stand for a group of languages. FLORES has a code for each member, so a group is
named after the member with the most text: Arabic is Modern Standard Arabic, Malay is Standard Malay.
"""

from __future__ import annotations

from functools import cache

from pairity.languages import languages_by_code

CODES = """
    aa=aar ab=abk af=afr ak=aka am=amh ar=arb as=asm ay=ayr az=azj ba=bak be=bel bg=bul bh=bho bi=bis bn=ben
    bo=bod br=bre bs=bos ca=cat ceb=ceb chr=chr co=cos crs=crs cs=ces cy=cym da=dan de=deu dv=div dz=dzo
    ee=ewe el=ell en=eng eo=epo es=spa et=est eu=eus fa=pes fi=fin fj=fij fo=fao fr=fra fy=fry ga=gle
    gaa=gaa gd=gla gl=glg gn=grn gu=guj gv=glv ha=hau haw=haw hi=hin hmn=hmn hr=hrv ht=hat hu=hun hy=hye
    ia=ina id=ind ie=ile ig=ibo ik=ipk is=isl it=ita iu=iku iw=heb ja=jpn jw=jav ka=kat kha=kha kk=kaz
    kl=kal km=khm kn=kan ko=kor kri=kri ks=kas ku=kmr ky=kir la=lat lb=ltz lg=lug lif=lif ln=lin lo=lao
    loz=loz lt=lit lua=lua luo=luo lv=lvs mfe=mfe mg=plt mi=mri mk=mkd ml=mal mn=khk mr=mar ms=zsm mt=mlt
    my=mya na=nau ne=npi new=new nl=nld nn=nno no=nob nr=nbl nso=nso ny=nya oc=oci om=gaz or=ory os=oss
    pa=pan pam=pam pl=pol ps=pbt pt=por qu=quy raj=raj rm=roh rn=run ro=ron ru=rus rw=kin sa=san sco=sco
    sd=snd sg=sag si=sin sk=slk sl=slv sm=smo sn=sna so=som sq=als sr=srp sr-ME=cnr ss=ssw st=sot su=sun
    sv=swe sw=swh syr=syr ta=tam te=tel tg=tgk th=tha ti=tir tk=tuk tl=tgl tn=tsn to=ton tr=tur ts=tso
    tt=tat tum=tum tw=twi ug=uig uk=ukr ur=urd uz=uzn ve=ven vi=vie vo=vol war=war wo=wol xh=xho yi=ydd
    yo=yor za=zha zu=zul
"""
ISO_639_3 = dict(pair.split("=") for pair in CODES.split())
WHOLE = {"zh": "zho_Hans", "zh-Hant": "zho_Hant", "ja": "jpn_Jpan", "ko": "kor_Hang"}
"""Codes that imply a script."""
OF_SCRIPT = {("ku", "Arab"): "ckb_Arab", ("az", "Arab"): "azb_Arab"}
"""Members of a group that can be told apart by their script."""


def code_of(name: str, script: str) -> str | None:
    """code_of("sr", "Latn") -> "srp_Latn"; None for codes that are no language: a script ("xx-Olck"), a joke, "un" """
    if name in WHOLE:
        return WHOLE[name]
    if name not in ISO_639_3:
        return None
    return OF_SCRIPT.get((name, script), f"{ISO_639_3[name]}_{script}")


@cache
def only_language_in(script: str) -> str | None:
    """only_language_in("Geor") -> "kat_Geor"; None if a script has several languages in the table, or none."""
    found = [code for code, one in languages_by_code().items() if one.script_code == script]
    return found[0] if len(found) == 1 else None
